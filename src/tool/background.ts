/** How calls of a tool go to the background. */
export interface ToolBackground {
  /**
   * A call that takes longer than this goes to the background: the model gets its id now and the result later.
   * @default never by itself
   */
  afterMs?: number | undefined
  /**
   * Whether a query waits for the outcome before it ends.
   * @default true
   */
  awaited?: boolean | undefined
  /**
   * What happens to a call that still runs when the session is closed or the query ends.
   * @default 'stop'
   */
  onEnd?: 'stop' | 'leave' | undefined
}

/** How one call goes to the background. The defaults are those of its tool. */
export interface DetachOptions extends Pick<ToolBackground, 'awaited' | 'onEnd'> {
  /** For the model, beside the id of the background call. */
  note?: string | undefined
}
