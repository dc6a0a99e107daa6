import { join } from 'node:path'
import { parseRule } from '../../permission/permission-rule.ts'
import type { ProcessRunner } from '../../shell/process-runner.ts'
import type { ToolUseContext } from '../../tool/tool-use-context.ts'
import { pathRule } from '../../workspace/path-rule.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { heedRulesAbove } from './heed-rules-above.ts'
import { findRipgrep, runRipgrep } from './ripgrep.ts'
import { type FoundFiles, walkFiles } from './walk-files.ts'

/** What the two tools that search share. */
export interface SearchDesk {
  readonly workspace: Workspace
  readonly runner: ProcessRunner
  /** The path of ripgrep; false where it shall not be used. */
  readonly ripgrep: string | false
}

export const ripgrepFor = (given: string | false | undefined): string | false => given ?? findRipgrep() ?? false

const maxFiles = 500_000
const maxBytes = 100_000_000

/** All files below a folder that nothing ignores, as absolute paths in no order. */
export async function listFiles(desk: SearchDesk, folder: string, signal: AbortSignal): Promise<FoundFiles> {
  const { workspace, ripgrep, runner } = desk
  if (ripgrep === false) return walkFiles(workspace, folder, maxFiles, signal)
  const { text, isCut } = await runRipgrep({
    path: ripgrep,
    args: ['--files', '--null'],
    folder,
    runner,
    signal,
    maxBytes,
  })
  const names = text.split('\0')
  // the last is empty, or half a name
  names.pop()
  const files = await heedRulesAbove(
    workspace,
    folder,
    names.map((name) => join(folder, name)),
    (path) => path,
  )
  return { files, isCut }
}

/** Files that rules forbid to read are not found either. */
export async function forbiddenFiles(
  { workspace }: SearchDesk,
  { permissions }: ToolUseContext,
): Promise<(path: string) => boolean> {
  const rules = (permissions?.deny ?? []).map((rule) => parseRule(rule)).filter(({ toolName }) => toolName === 'Read')
  const specs = await Promise.all(rules.map(({ spec = '**' }) => pathRule(spec, workspace, 'deny')))
  return (path) => specs.some(({ matches }) => matches(path))
}

/** By code unit, so that it is the same everywhere. */
export const byName = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
