import { toolError } from 'signalbox'
import { readField } from '../read-field.ts'

const sentences: Record<string, string> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a parent of the path is a file, not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied by the file system',
  EPERM: 'operation not permitted by the file system',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full. Nothing was changed',
  EDQUOT: 'the disk quota is exceeded. Nothing was changed',
  EMFILE: 'too many files are open. Try again with fewer calls at once',
  ENFILE: 'too many files are open on this machine. Try again later',
  ELOOP: 'its symbolic links form a loop, or it was replaced by a link',
  ENAMETOOLONG: 'the name is too long',
  EEXIST: 'a file or folder with this name already exists',
  EMOVED: 'its folder changed while it was being opened. Try again',
  ENXIO: 'it is not a regular file',
}

/** Converts a file system error to one that a model can act on. */
export function fileError(error: unknown, doing: string): Error {
  const code = readField(error, 'code')
  if (readField(error, 'telemetryMessage') !== undefined) return error as Error
  if (typeof code !== 'string') return error instanceof Error ? error : new Error(String(error))
  return toolError(`${doing}: ${sentences[code] ?? code}.`, code)
}
