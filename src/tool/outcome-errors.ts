const unknownBrand = Symbol.for('signalbox.unknown-outcome')
const notRunBrand = Symbol.for('signalbox.did-not-run')

/**
 * Thrown by a tool whose work was under way elsewhere when the connection to it was lost: the call may or may not have
 * taken effect. It is never retried, and the model is told to check before it tries again.
 */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError'
  readonly [unknownBrand] = true
}

/** Thrown by a tool whose work was to be done elsewhere and certainly was not begun. */
export class DidNotRunError extends Error {
  override readonly name = 'DidNotRunError'
  readonly telemetryMessage = 'DidNotRun'
  readonly [notRunBrand] = true
}

/** Works across two copies of the package, unlike `instanceof`. */
const isBranded = (error: unknown, brand: symbol): boolean => {
  try {
    return typeof error === 'object' && error !== null && brand in error
  } catch {
    return false
  }
}

export const isUnknownOutcome = (error: unknown): error is UnknownOutcomeError => isBranded(error, unknownBrand)
export const isDidNotRun = (error: unknown): error is DidNotRunError => isBranded(error, notRunBrand)
