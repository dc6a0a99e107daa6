import type { AbortCause } from './abort-precedence.ts'

/** How a call came to be `completed`. */
export type Ending =
  /** The answer was known when the call arrived: an unknown tool, an id that clashes. */
  | { readonly by: 'answer' }
  /** The call has a result or an error of its own. */
  | { readonly by: 'result' }
  /** Somebody else ended it. */
  | { readonly by: 'abort'; readonly cause: AbortCause; readonly reached: Reached }

/**
 * How far a call had come when it was ended: it never executed, it was on its way, its body came to its end all the
 * same, or its body did not stop and was left behind.
 */
export type Reached = 'notStarted' | 'underWay' | 'finished' | 'abandoned'
