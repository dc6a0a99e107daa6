import { usageError } from './usage-error.ts'

const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be read or written',
  EPERM: 'it may not be read or written',
  EEXIST: 'it is there already',
  ENOTDIR: 'a part of its path is not a folder',
  ENOSPC: 'there is no room left',
}

/** What the file system refused, as a sentence that names the file. */
export function fileError(path: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException
  return usageError(`${path}: ${words[code ?? ''] ?? message}.`, error)
}
