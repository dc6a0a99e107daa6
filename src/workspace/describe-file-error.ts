import { readField } from '../errors/read-field.ts'
import { toolError } from './tool-error.ts'

const sentences: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'something on the way to it is a file, not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'the permissions of the file system do not allow it',
  EPERM: 'the file system does not allow it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full. Nothing was changed',
  EDQUOT: 'the disk quota is used up. Nothing was changed',
  EMFILE: 'too many files are open. Try again with fewer calls at once',
  ENFILE: 'too many files are open on this machine. Try again later',
  ELOOP: 'its symbolic links lead in a circle, or it became a link',
  ENAMETOOLONG: 'the name is too long',
  EEXIST: 'something with this name is already there',
  ENXIO: 'it is not a regular file',
}

/** What went wrong with a file, as an error that a model can act on. */
export function fileError(error: unknown, doing: string): Error {
  const code = readField(error, 'code')
  if (readField(error, 'telemetryMessage') !== undefined) return error as Error
  if (typeof code !== 'string') return error instanceof Error ? error : new Error(String(error))
  return toolError(`${doing}: ${sentences[code] ?? code}.`, code)
}
