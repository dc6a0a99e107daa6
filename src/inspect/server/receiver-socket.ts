import type { Duplex } from 'node:stream'
import { WebSocket } from './web-socket.ts'

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

const maxMessageBytes = 65_536

/**
 * A receiver behind a socket. It sends no acknowledgements, so unsent bytes are counted. Above a first limit it gets only
 * vital messages; above a second limit it is disconnected.
 */
export class ReceiverSocket implements Receiver {
  readonly #socket: WebSocket
  readonly #maxBytes: number
  #hasMissed = false

  constructor(stream: Duplex, head: Buffer, maxBytes: number, events: ReceiverEvents) {
    this.#maxBytes = maxBytes
    this.#socket = new WebSocket(stream, head, maxMessageBytes, {
      onMessage: (text) => events.onMessage(this, text),
      onClose: () => events.onLeave(this),
      onDrain: () => {
        if (!this.#hasMissed) return
        this.#hasMissed = false
        events.onCaughtUp(this)
      },
    })
  }

  get isBehind(): boolean {
    const { bufferedAmount, isDraining } = this.#socket
    return this.#hasMissed || (isDraining && bufferedAmount > this.#maxBytes / 8)
  }

  send(text: string, { isVital = false } = {}): void {
    if (this.#socket.bufferedAmount > this.#maxBytes) return this.#socket.drop()
    if (this.isBehind && !isVital) this.#hasMissed = true
    else this.#socket.send(text)
  }

  miss(): void {
    this.#hasMissed = true
  }

  close(): void {
    this.#socket.close(1001)
  }
}
