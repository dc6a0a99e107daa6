import { SignalboxError } from '../index.ts'

/** Something that whoever typed the command can put right. */
export const usageError = (message: string, cause?: unknown): SignalboxError =>
  new SignalboxError('invalid_option', message, { cause })
