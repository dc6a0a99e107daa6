import { DidNotRunError, UnknownOutcomeError } from '../tool/outcome-errors.ts'
import type { RemoteResult, StoredData } from './tool-runner.ts'

/** An error as it crosses over. */
export interface RemoteError {
  readonly name: string
  readonly message: string
  readonly code?: string | undefined
  readonly telemetryMessage?: string | undefined
}

/** What became of a body, as plain JSON: what a worker sends back. */
export type BodyOutcome =
  | { readonly status: 'returned'; readonly result: RemoteResult }
  | { readonly status: 'threw'; readonly error: RemoteError }
  | { readonly status: 'notRun'; readonly because: string }
  | { readonly status: 'unknown'; readonly because: string }

/** Results longer than this are stored by the worker, not sent. In bytes of JSON. */
export const maxResultBytes = 256 * 1024
/** Longer inputs are not sent. In bytes of JSON. */
export const maxInputBytes = 1024 * 1024

/** The result of a body, or its error thrown. */
export function settleOutcome(outcome: BodyOutcome): RemoteResult {
  if (outcome.status === 'returned') return outcome.result
  if (outcome.status === 'notRun') throw new DidNotRunError(`The call did not run: ${outcome.because}`)
  if (outcome.status === 'unknown') throw new UnknownOutcomeError(outcome.because)
  const { message, ...rest } = outcome.error
  throw Object.assign(new Error(message), rest)
}

/** UTF-8 bytes of a text; counts only texts that may exceed the limit. */
export function exceeds(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes
}

/** A long text with its beginning and end, as it is referenced. */
export const storedData = (path: string, text: string): StoredData => ({
  path,
  size: text.length,
  head: text.slice(0, 2_000).toWellFormed(),
  tail: text.slice(-1_000).toWellFormed(),
})
