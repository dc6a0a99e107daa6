import type { LimitReached } from './budget.ts'

/** Why a query ended. */
export type QueryEnding =
  /** The model had nothing more to do. */
  | { readonly reason: 'completed' }
  | { readonly reason: 'max_turns' }
  /** A limit on the whole tree of agents was reached: no further request is made. */
  | ({ readonly reason: 'limit' } & LimitReached)
  /** A hook returned `continue: false`. */
  | { readonly reason: 'hook_stopped' }
  | { readonly reason: 'aborted_streaming' | 'aborted_tools'; readonly abortReason: unknown }
  | { readonly reason: 'model_error'; readonly error: unknown }
  /** It can be resumed: questions wait for a person, or the session was suspended. */
  | { readonly reason: 'suspended' }
  /** The session's log cannot be written any more. The session can be resumed from its last record. */
  | { readonly reason: 'journal_error'; readonly error: unknown }
