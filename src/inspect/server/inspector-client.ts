import type { FrameHistory } from './frame-history.ts'
import type { WebSocket } from './web-socket.ts'

/** How many batches may be unacknowledged before sending pauses. */
const maxUnacknowledged = 4
const maxBufferedBytes = 4_000_000
/** How often an empty batch is sent: the browser learns that the server is there, and the server that the browser is. */
const beatMs = 2_000

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
  #beat: NodeJS.Timeout | undefined

  constructor(socket: WebSocket, history: FrameHistory, ackTimeoutMs: number, position = 0) {
    this.#socket = socket
    this.#history = history
    this.#ackTimeoutMs = ackTimeoutMs
    this.#position = position
    this.#beatSoon()
  }

  pump(): void {
    while (this.#sent - this.#acknowledged < maxUnacknowledged && this.#socket.bufferedAmount < maxBufferedBytes) {
      const batch = this.#history.after(this.#position)
      if (batch === undefined) return
      this.#position = batch.position
      this.#send(batch.frames)
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
    clearTimeout(this.#beat)
  }

  #send(frames: readonly string[]): void {
    this.#socket.send(`{"type":"frames","batch":${++this.#sent},"frames":[${frames.join(',')}]}`)
    this.#expectAck()
  }

  /** A browser that has not acknowledged yet is waited for already. */
  #beatSoon(): void {
    this.#beat = setTimeout(() => {
      if (this.#acknowledged === this.#sent) this.#send([])
      this.#beatSoon()
    }, beatMs).unref()
  }

  #expectAck(): void {
    this.#deadline ??= setTimeout(() => this.#socket.drop(), this.#ackTimeoutMs).unref()
  }
}
