import { sep } from 'node:path'
import type { Workspace } from '../workspace/workspace.ts'
import { entriesOf, type IgnoreRules, rulesAbove } from './ignore-rules.ts'

export interface FoundFiles {
  /** Absolute paths, in no particular order. */
  readonly files: string[]
  /** The walk stopped early at a limit. */
  readonly isCut: boolean
  /** The signal ended the walk early. */
  readonly isStopped?: boolean | undefined
}

const width = 16

/** All files below a folder that are not ignored, without ripgrep. Does not follow links. */
export async function walkFiles(
  workspace: Workspace,
  folder: string,
  maxFiles: number,
  signal: AbortSignal,
): Promise<FoundFiles> {
  const files: string[] = []
  const waiting: { folder: string; rules: IgnoreRules }[] = [{ folder, rules: await rulesAbove(workspace, folder) }]
  let isCut = false
  const visit = async (at: (typeof waiting)[number]): Promise<void> => {
    // folders that cannot be listed are skipped, as in ripgrep
    const entries = await entriesOf(workspace, at.folder)
    const rules = await at.rules.with(at.folder, entries)
    const inside = at.folder.endsWith(sep) ? at.folder : at.folder + sep
    for (const { name, kind } of entries) {
      if (name === '.git' || (kind !== 'file' && kind !== 'folder')) continue
      const path = inside + name
      if (rules.isIgnored(path, kind === 'folder')) continue
      if (kind === 'folder') waiting.push({ folder: path, rules })
      else if (files.length < maxFiles) files.push(path)
      else isCut = true
    }
  }
  while (waiting.length > 0 && !isCut) {
    if (signal.aborted) return { files, isCut, isStopped: true }
    await Promise.all(waiting.splice(0, width).map(visit))
  }
  return { files, isCut }
}
