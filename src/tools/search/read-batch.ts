import { dirname } from 'node:path'
import type { Workspace } from '../../workspace/workspace.ts'
import { maxFileBytes } from './match.ts'

export interface FileText {
  readonly path: string
  readonly text: string
}

/**
 * The texts of files that a walk has just found. Quicker than to open each with all care: links are refused when a file
 * is opened, and that its folder is still where it was is looked at once for all. Never rejects.
 */
export async function readBatch(workspace: Workspace, paths: readonly string[]): Promise<FileText[]> {
  const texts = await Promise.all(paths.map((path) => readText(workspace, path).catch(() => undefined)))
  const found = texts.filter((each) => each !== undefined)
  const folders = new Map<string, boolean>()
  for (const folder of new Set(found.map(({ path }) => dirname(path)))) {
    const real = await workspace.fileSystem.realpath(folder).catch(() => undefined)
    folders.set(folder, real === folder)
  }
  return found.filter(({ path }) => folders.get(dirname(path)) === true)
}

/** Nothing for what is binary, too large, or not to be read. */
async function readText({ fileSystem }: Workspace, path: string): Promise<FileText | undefined> {
  const file = await fileSystem.openToRead(path)
  try {
    const { kind, size } = await file.facts()
    if (kind !== 'file' || size > maxFileBytes) return undefined
    const bytes = Buffer.allocUnsafe(size)
    let length = 0
    while (length < size) {
      const read = await file.read(bytes.subarray(length), length)
      if (read === 0) break
      length += read
    }
    const text = bytes.subarray(0, length)
    return text.includes(0) ? undefined : { path, text: text.toString('utf8') }
  } finally {
    await file.close().catch(() => undefined)
  }
}
