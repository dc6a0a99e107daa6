import type { Duplex } from 'node:stream'
import { WebSocket } from './web-socket.ts'

const maxMessageBytes = 65_536

export interface ReceiverEvents {
  onJoin(receiver: Receiver): void
  onMessage(receiver: Receiver, text: string): void
  /** It missed something, and has now taken all the rest: it can begin again with the present. */
  onCaughtUp(receiver: Receiver): void
  onLeave(receiver: Receiver): void
}

/**
 * One client of another inspector. It acknowledges nothing, so what it has not taken is counted: where that is much,
 * it is told only what cannot be made up for, and where it is far too much, it is dropped.
 */
export class Receiver {
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
    return this.#hasMissed || this.#socket.bufferedAmount > this.#maxBytes / 8
  }

  /** `isVital`: it is not said again when the receiver has caught up. */
  send(text: string, { isVital = false } = {}): void {
    if (this.#socket.bufferedAmount > this.#maxBytes) return this.#socket.drop()
    if (this.isBehind && !isVital) this.#hasMissed = true
    else this.#socket.send(text)
  }

  /** Something was not even written out for it. */
  miss(): void {
    this.#hasMissed = true
  }

  close(): void {
    this.#socket.close(1001)
  }
}
