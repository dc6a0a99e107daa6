/** Why a query ended. */
export type QueryEnding =
  /** The model had nothing more to do. */
  | { readonly reason: 'completed' }
  | { readonly reason: 'max_turns' }
  /** A hook returned `continue: false`. */
  | { readonly reason: 'hook_stopped' }
  | { readonly reason: 'aborted_streaming' | 'aborted_tools'; readonly abortReason: unknown }
  | { readonly reason: 'model_error'; readonly error: unknown }
