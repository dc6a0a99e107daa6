import { parseRule, type ToolUseContext } from 'signalbox'
import { pathRule } from './path-rule.ts'
import type { Workspace } from './workspace.ts'

/** The real paths that the deny rules of these tools match, or their ask rules. */
export async function deniedPaths(
  workspace: Workspace,
  { permissions }: ToolUseContext,
  toolNames: readonly string[],
  list: 'deny' | 'ask' = 'deny',
): Promise<(path: string) => boolean> {
  const rules = (permissions?.[list] ?? []).map((rule) => parseRule(rule))
  const own = rules.filter(({ toolName }) => toolNames.includes(toolName))
  const specs = await Promise.all(own.map(({ spec = '**' }) => pathRule(spec, workspace, 'deny')))
  return (path) => specs.some(({ matches }) => matches(path))
}
