import { SignalboxError } from 'signalbox'

/** An error that the user of the command can fix. */
export const usageError = (message: string, cause?: unknown): SignalboxError =>
  new SignalboxError('invalid_option', message, { cause })
