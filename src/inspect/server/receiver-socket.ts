import type { Duplex } from 'node:stream'
import type { Receiver, ReceiverEvents } from './receiver.ts'
import { WebSocket } from './web-socket.ts'

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
