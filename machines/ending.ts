import type { AbortCause } from './abort-precedence.ts'

/** How a call came to be `completed`. */
export type Ending =
  /** The answer was known when the call arrived: an unknown tool, an id that clashes. */
  | { readonly by: 'answer' }
  /** The call has a result or an error of its own. */
  | { readonly by: 'result' }
  /** Somebody else ended it; `finished` says that the body came to its end all the same. */
  | { readonly by: 'abort'; readonly cause: AbortCause; readonly started: boolean; readonly finished: boolean }
