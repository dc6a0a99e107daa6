import { fileError } from './describe-file-error.ts'
import type { FileFacts, OpenFile } from './file-system.ts'
import { toolError } from './tool-error.ts'
import type { FoundPlace, Workspace } from './workspace.ts'

export interface OpenedFile {
  readonly file: OpenFile
  readonly facts: FileFacts
}

/**
 * Opens a regular file, and makes sure that it is the one that was looked at: between the look and the opening somebody
 * may have put a link or a pipe in its place. The caller closes it.
 */
export async function openToRead({ fileSystem }: Workspace, { path, shown }: FoundPlace): Promise<OpenedFile> {
  let file: OpenFile | undefined
  try {
    const before = await fileSystem.lstat(path)
    if (before.kind === 'folder') throw toolError(`${shown} is a folder. Use Glob to list files.`, 'EISDIR')
    if (before.kind !== 'file') throw toolError(`${shown} is not a regular file, so it is not read.`, 'NotAFile')
    file = await fileSystem.openToRead(path)
    const facts = await file.facts()
    const isSame = facts.kind === 'file' && facts.identity === before.identity
    if (!isSame || (await fileSystem.realpath(path)) !== path) {
      throw toolError(`${shown} changed while it was being opened. Try again.`, 'Moved')
    }
    return { file, facts }
  } catch (error) {
    await file?.close().catch(() => undefined)
    throw fileError(error, `Cannot read ${shown}`)
  }
}
