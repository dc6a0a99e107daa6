import { defaultIdsAndTime } from '../messages/ids-and-time.ts'
import type { ContentBlock } from '../messages/message.ts'
import type { BlockDelta, ModelEvent } from './model.ts'

type MessageHead = { id?: unknown; model?: unknown; [key: string]: unknown }
export type MessageEnd = Extract<ModelEvent, { type: 'message_delta' }>['delta']

/** Writes the events of one reply in a valid order. */
export class ReplyWriter {
  readonly #opened = new Set<number>()
  #events: ModelEvent[] = []
  #blocks = 0
  #isStarted = false
  #isComplete = false
  #isOver = false

  get isStarted(): boolean {
    return this.#isStarted
  }

  /** The reply has a stop reason, so it is complete even if the connection breaks. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Nothing more is written. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Only the first call has an effect. Without one, the first block starts the message. */
  start(head: MessageHead): void {
    if (this.#isStarted || this.#isOver) return
    this.#isStarted = true
    const id = typeof head.id === 'string' && head.id !== '' ? head.id : `msg_${defaultIdsAndTime.uuid()}`
    this.#write({ type: 'message_start', message: Object.assign({}, head as object, { id }) })
  }

  /** Discards what was written and starts another reply. */
  restart(head: MessageHead): void {
    this.#isStarted = false
    this.#isComplete = false
    this.#opened.clear()
    this.#blocks = 0
    this.start(head)
  }

  /** Returns the new block's index. */
  open(block: ContentBlock): number {
    this.start({})
    const index = this.#blocks++
    this.#opened.add(index)
    this.#write({ type: 'content_block_start', index, content_block: block })
    return index
  }

  /** Ignored if the block is not open. */
  delta(index: number, delta: BlockDelta): void {
    if (this.#opened.has(index)) this.#write({ type: 'content_block_delta', index, delta })
  }

  close(index: number): void {
    if (this.#opened.delete(index)) this.#write({ type: 'content_block_stop', index })
  }

  /** Writes a complete block. */
  put(block: ContentBlock): void {
    this.close(this.open(block))
  }

  /** The stop reason, or later information such as usage. */
  stop(delta: MessageEnd, usage?: unknown): void {
    this.start({})
    this.#isComplete ||= typeof delta.stop_reason === 'string'
    this.#write({ type: 'message_delta', delta, ...(usage !== undefined && { usage }) })
  }

  end(): void {
    this.start({})
    this.#write({ type: 'message_stop' })
    this.#isOver = true
  }

  fail(type: string, message: string): void {
    this.#write({ type: 'error', error: { type, message } })
    this.#isOver = true
  }

  ping(): void {
    this.#write({ type: 'ping' })
  }

  /** The events since the last call of this method. */
  drain(): ModelEvent[] {
    const written = this.#events
    this.#events = []
    return written
  }

  #write(event: ModelEvent): void {
    if (!this.#isOver) this.#events.push(event)
  }
}
