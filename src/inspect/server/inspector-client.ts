import type { FrameHistory } from './frame-history.ts'
import type { WebSocket } from './web-socket.ts'

/** How many batches may be unacknowledged before sending pauses. */
const maxUnacknowledged = 4
const maxBufferedBytes = 4_000_000

/**
 * One connected browser. It has only a position in the history, no buffer of its own: a browser that never reads costs a
 * few batches and is disconnected after a while.
 */
export class InspectorClient {
  readonly #socket: WebSocket
  readonly #history: FrameHistory
  readonly #ackTimeoutMs: number
  #position: number
  #sent = 0
  #acknowledged = 0
  #deadline: NodeJS.Timeout | undefined

  constructor(socket: WebSocket, history: FrameHistory, ackTimeoutMs: number, position = 0) {
    this.#socket = socket
    this.#history = history
    this.#ackTimeoutMs = ackTimeoutMs
    this.#position = position
  }

  pump(): void {
    while (this.#sent - this.#acknowledged < maxUnacknowledged && this.#socket.bufferedAmount < maxBufferedBytes) {
      const batch = this.#history.after(this.#position)
      if (batch === undefined) return
      this.#position = batch.position
      this.#socket.send(`{"type":"frames","batch":${++this.#sent},"frames":[${batch.frames.join(',')}]}`)
      this.#expectAck()
    }
  }

  acknowledge(batch: number): void {
    if (batch <= this.#acknowledged || batch > this.#sent) return
    this.#acknowledged = batch
    clearTimeout(this.#deadline)
    this.#deadline = undefined
    if (this.#acknowledged < this.#sent) this.#expectAck()
    this.pump()
  }

  leave(): void {
    clearTimeout(this.#deadline)
  }

  #expectAck(): void {
    this.#deadline ??= setTimeout(() => this.#socket.drop(), this.#ackTimeoutMs).unref()
  }
}
