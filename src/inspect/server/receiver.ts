// apart from the socket, so that the public types need no types of Node

/** One client of a third-party inspector. */
export interface Receiver {
  /** Many bytes are unsent, or it has already missed a message. */
  readonly isBehind: boolean
  /** `isVital`: the message is not repeated when the receiver has caught up. */
  send(text: string, options?: { readonly isVital?: boolean }): void
  /** Records that a message was skipped without being serialized. */
  miss(): void
}

export interface ReceiverEvents {
  onJoin(receiver: Receiver): void
  onMessage(receiver: Receiver, text: string): void
  /** The receiver missed messages and has now read the rest: send it the current state. */
  onCaughtUp(receiver: Receiver): void
  onLeave(receiver: Receiver): void
}
