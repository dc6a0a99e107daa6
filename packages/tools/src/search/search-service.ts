import { join } from 'node:path'
import type { ToolUseContext } from 'signalbox'
import type { ProcessRunner } from 'signalbox/node'
import { deniedPaths } from '../workspace/path-rule.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { heedRulesAbove } from './heed-rules-above.ts'
import { findRipgrep, runRipgrep } from './ripgrep.ts'
import { type FoundFiles, walkFiles } from './walk-files.ts'

/** The common part of Grep and Glob. */
export interface SearchService {
  readonly workspace: Workspace
  readonly runner: ProcessRunner
  /** The path of ripgrep; false to search without it. */
  readonly ripgrep: string | false
}

export const ripgrepFor = (given: string | false | undefined): string | false => given ?? findRipgrep() ?? false

const maxFiles = 500_000
const maxBytes = 100_000_000

/** All files below a folder that are not ignored, as absolute paths in no particular order. */
export async function listFiles(service: SearchService, folder: string, signal: AbortSignal): Promise<FoundFiles> {
  const { workspace, ripgrep, runner } = service
  if (ripgrep === false) return walkFiles(workspace, folder, maxFiles, signal)
  const { text, isCut, isStopped } = await runRipgrep({
    path: ripgrep,
    args: ['--files', '--null'],
    folder,
    runner,
    signal,
    maxBytes,
  })
  const names = text.split('\0')
  // the last part is empty, or an incomplete name
  names.pop()
  const files = await heedRulesAbove(
    workspace,
    folder,
    names.map((name) => join(folder, name)),
    (path) => path,
  )
  return { files, isCut, isStopped }
}

/** Leaves out files that rules forbid to read. */
export const forbiddenFiles = (
  { workspace }: SearchService,
  context: ToolUseContext,
): Promise<(path: string) => boolean> => deniedPaths(workspace, context, ['Read'])

/** By code unit, so that the order is the same everywhere. */
export const byName = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** A path for display: quoted as in JSON if it contains a line break or another control character. */
export const onOneLine = (path: string): string => (/\p{Cc}/u.test(path) ? JSON.stringify(path) : path)
