import { dirname } from 'node:path'
import type { Workspace } from '../workspace/workspace.ts'
import { entriesOf, type IgnoreRules, rulesAbove } from './ignore-rules.ts'

/**
 * Applies the ignore files above a folder to ripgrep's results. ripgrep must not read them itself, because they may be
 * outside the workspace. An ignore file further down may re-include a file.
 */
export async function heedRulesAbove<Found>(
  workspace: Workspace,
  folder: string,
  found: readonly Found[],
  pathOf: (each: Found) => string,
): Promise<Found[]> {
  const above = await rulesAbove(workspace, folder)
  if (above.isEmpty) return [...found]
  const known = new Map<string, Promise<IgnoreRules | 'ignored'>>()
  const rulesIn = (at: string): Promise<IgnoreRules | 'ignored'> => {
    const rules = known.get(at) ?? readRules(at)
    known.set(at, rules)
    return rules
  }
  const readRules = async (at: string): Promise<IgnoreRules | 'ignored'> => {
    const outer = at === folder ? above : await rulesIn(dirname(at))
    if (outer === 'ignored' || (at !== folder && outer.isIgnored(at, true))) return 'ignored'
    return outer.with(at, await entriesOf(workspace, at))
  }
  const kept: Found[] = []
  for (const each of found) {
    const path = pathOf(each)
    const rules = above.isIgnored(path, false) ? await rulesIn(dirname(path)) : undefined
    if (rules === undefined || (rules !== 'ignored' && !rules.isIgnored(path, false))) kept.push(each)
  }
  return kept
}
