import { basename, dirname } from 'node:path'
import { toolError } from 'signalbox'
import { fileError } from './describe-file-error.ts'
import type { FileFacts, OpenFile, OpenFolder } from './file-system.ts'
import { holdFolder } from './hold-folder.ts'
import type { FoundPlace, Workspace } from './workspace.ts'

export interface OpenedFile {
  readonly file: OpenFile
  readonly facts: FileFacts
}

/**
 * Opens a regular file in its held folder, and verifies that it is the file that was checked: a link or a pipe may
 * have replaced it in between. The caller closes it.
 */
export async function openToRead(workspace: Workspace, { path, shown }: FoundPlace): Promise<OpenedFile> {
  let folder: OpenFolder | undefined
  let file: OpenFile | undefined
  try {
    if (workspace.roots.includes(path)) throw toolError(`${shown} is a folder. Use Glob to list files.`, 'EISDIR')
    folder = await holdFolder(workspace, dirname(path))
    const before = await folder.lstat(basename(path))
    if (before.kind === 'folder') throw toolError(`${shown} is a folder. Use Glob to list files.`, 'EISDIR')
    if (before.kind !== 'file') throw toolError(`${shown} is not a regular file and cannot be read.`, 'NotAFile')
    file = await folder.openToRead(basename(path))
    const facts = await file.facts()
    if (facts.kind !== 'file' || facts.identity !== before.identity) {
      throw toolError(`${shown} changed while it was being opened. Try again.`, 'Moved')
    }
    return { file, facts }
  } catch (error) {
    await file?.close().catch(() => undefined)
    throw fileError(error, `Cannot read ${shown}`)
  } finally {
    await folder?.close().catch(() => undefined)
  }
}
