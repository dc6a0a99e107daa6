/** One client of another inspector. */
export interface Receiver {
  /** It has not taken much of what is on its way, or missed something already. */
  readonly isBehind: boolean
  /** `isVital`: it is not said again when the receiver has caught up. */
  send(text: string, options?: { readonly isVital?: boolean }): void
  /** Something was not even written out for it. */
  miss(): void
}

export interface ReceiverEvents {
  onJoin(receiver: Receiver): void
  onMessage(receiver: Receiver, text: string): void
  /** It missed something, and has now taken all the rest: it can begin again with the present. */
  onCaughtUp(receiver: Receiver): void
  onLeave(receiver: Receiver): void
}
