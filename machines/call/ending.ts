import type { AbortCause } from './abort-precedence.ts'

/** How a call became `completed`. */
export type Ending =
  /** The result was known on arrival: an unknown tool, a duplicate id. */
  | { readonly by: 'answer' }
  /** The call has a result or an error of its own. */
  | { readonly by: 'result' }
  /** The result was in the log of the session. */
  | { readonly by: 'journal' }
  /** The process that ran the body is gone: the call may or may not have taken effect. */
  | { readonly by: 'unknown' }
  /** The call was ended from outside. */
  | { readonly by: 'abort'; readonly cause: AbortCause; readonly reached: Reached }

/**
 * How a body ended, as far as it reports: without a report, the result may be complete or not. `notStarted`: the body was
 * to run elsewhere, and certainly did not.
 */
export type BodyEnd = 'finished' | 'cutShort' | 'returned' | 'failed' | 'notStarted'

/**
 * How far a call was when it was ended: it never executed; it was executing; its body reports that it was cut short, or
 * that it had finished, or returned without a report; or it did not stop and was abandoned.
 */
export type Reached = 'notStarted' | 'underWay' | Exclude<BodyEnd, 'failed'> | 'abandoned'
