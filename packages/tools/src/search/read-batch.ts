import { basename, dirname } from 'node:path'
import type { OpenFolder } from '../workspace/file-system.ts'
import { holdFolder } from '../workspace/hold-folder.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { decodeText } from './file-bytes.ts'
import { maxFileBytes } from './match.ts'

export interface FileText {
  readonly path: string
  readonly text: string
}

/** Reads the files that a walk has just found, in folders that are held open. Never rejects. */
export async function readBatch(workspace: Workspace, paths: readonly string[]): Promise<FileText[]> {
  const folders = new Map<string, Promise<OpenFolder | undefined>>()
  const folderOf = (path: string): Promise<OpenFolder | undefined> => {
    const above = dirname(path)
    const folder = folders.get(above) ?? holdFolder(workspace, above).catch(() => undefined)
    folders.set(above, folder)
    return folder
  }
  const read = async (path: string): Promise<FileText | undefined> => {
    const text = await readText(await folderOf(path), basename(path)).catch(() => undefined)
    return text === undefined ? undefined : { path, text }
  }
  const texts = await Promise.all(paths.map(read))
  for (const folder of folders.values()) await (await folder)?.close().catch(() => undefined)
  return texts.filter((each) => each !== undefined)
}

/** Undefined for files that are binary, too large, or unreadable. */
async function readText(folder: OpenFolder | undefined, name: string): Promise<string | undefined> {
  const file = await folder?.openToRead(name)
  if (file === undefined) return undefined
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
    return decodeText(bytes.subarray(0, length))
  } finally {
    await file.close().catch(() => undefined)
  }
}
