import { SignalboxError } from 'signalbox'

/** An error that the user of the command can fix. */
export const usageError = (message: string, cause?: unknown): SignalboxError =>
  new SignalboxError('invalid_option', message, { cause })

const words: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'expected a file, found a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EEXIST: 'the file already exists',
  ENOTDIR: 'a parent of the path is not a folder',
  ENOSPC: 'the disk is full',
}

/** Converts a file system error to a sentence that names the file. */
export function fileError(path: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException
  return usageError(`${path}: ${words[code ?? ''] ?? message}.`, error)
}
