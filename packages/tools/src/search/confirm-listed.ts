import { basename, dirname } from 'node:path'
import type { Workspace } from '../workspace/workspace.ts'
import { entriesOf } from './ignore-rules.ts'

const width = 16

/**
 * Filters the files that ripgrep listed to those that really exist at their path: ripgrep works by path, and a folder
 * may have been replaced by a link. Files that are not confirmed before the signal aborts are left out.
 */
export async function confirmListed(
  workspace: Workspace,
  files: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const folders = [...new Set(files.map((file) => dirname(file)))]
  const names = new Map<string, ReadonlySet<string>>()
  const look = async (folder: string): Promise<void> => {
    const entries = await entriesOf(workspace, folder)
    names.set(folder, new Set(entries.filter(({ kind }) => kind === 'file').map(({ name }) => name)))
  }
  for (let from = 0; from < folders.length && !signal.aborted; from += width)
    await Promise.all(folders.slice(from, from + width).map(look))
  return files.filter((file) => names.get(dirname(file))?.has(basename(file)))
}
