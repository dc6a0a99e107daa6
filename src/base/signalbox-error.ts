const brand = Symbol.for('signalbox.error')

export type SignalboxErrorCode =
  | 'invalid_option'
  | 'invalid_tool'
  | 'invalid_context'
  | 'invalid_rule'
  | 'invalid_hook'
  | 'aborted'
  | 'invalid_recording'
  | 'session_closed'
  | 'not_persistable'
  | 'session_exists'
  | 'session_not_found'
  | 'session_locked'
  | 'session_fenced'
  | 'journal_corrupt'
  | 'journal_newer'
  | 'journal_full'
  | 'journal_error'

/**
 * The only error that Signalbox throws: for misuse by the host, and for a session log that cannot be read or written.
 * Faults of a model or a tool become results.
 */
export class SignalboxError extends Error {
  override readonly name = 'SignalboxError'
  readonly code: SignalboxErrorCode
  readonly [brand] = true

  constructor(code: SignalboxErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Works across two copies of the package, unlike `instanceof`. */
export function isSignalboxError(error: unknown): error is SignalboxError {
  try {
    return typeof error === 'object' && error !== null && brand in error
  } catch {
    return false
  }
}
