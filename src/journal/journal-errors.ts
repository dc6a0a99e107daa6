import { describeError } from '../base/describe-error.ts'
import { isSignalboxError, SignalboxError } from '../base/signalbox-error.ts'

export const sessionExists = (id: string): SignalboxError =>
  new SignalboxError('session_exists', `Session ${id} exists. Open it with mode "resume" or "either".`)

export const sessionNotFound = (id: string): SignalboxError =>
  new SignalboxError('session_not_found', `Session ${id} does not exist in this store.`)

export const sessionLocked = (id: string, why: string): SignalboxError =>
  new SignalboxError('session_locked', `Session ${id} is already open: ${why}`)

export const sessionFenced = (id: string): SignalboxError =>
  new SignalboxError(
    'session_fenced',
    `Session ${id} was opened by another owner or removed. This owner can no longer write to it.`,
  )

export const journalClosed = (id: string): SignalboxError =>
  new SignalboxError('session_closed', `The journal of session ${id} is closed. Open the session again.`)

export const journalCorrupt = (id: string, position: string, why: string, cause?: unknown): SignalboxError =>
  new SignalboxError(
    'journal_corrupt',
    `The journal of session ${id} is damaged at ${position}: ${why}. The session is not resumed. Restore it from a backup, or remove the session.`,
    { cause },
  )

export const journalNewer = (id: string, why: string): SignalboxError =>
  new SignalboxError(
    'journal_newer',
    `The journal of session ${id} ${why}. Nothing was written. Update Signalbox to open it.`,
  )

export const journalFull = (id: string, why: string): SignalboxError =>
  new SignalboxError(
    'journal_full',
    `The journal of session ${id} is full: ${why}. Fork the session to continue in a new log.`,
  )

/** Converts an error of a store; an error with its own code stays unchanged. */
export const journalError = (id: string, cause: unknown): SignalboxError =>
  isSignalboxError(cause)
    ? cause
    : new SignalboxError('journal_error', `The journal of session ${id} failed: ${describeError(cause)}`, { cause })
