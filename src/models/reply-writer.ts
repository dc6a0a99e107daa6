import { defaultIdsAndTime } from '../messages/ids-and-time.ts'
import type { ContentBlock } from '../messages/message.ts'
import type { BlockDelta, ModelEvent } from './model.ts'

type MessageHead = { id?: unknown; model?: unknown; [key: string]: unknown }
export type MessageEnd = Extract<ModelEvent, { type: 'message_delta' }>['delta']

/** Writes the events of one reply in a valid order. */
export interface ReplyWriter {
  /** Only the first call has an effect. Without one, the first block starts the message. */
  start(message: MessageHead): void
  /** Discards what was written and starts another reply. */
  restart(message: MessageHead): void
  /** Returns the new block's index. */
  open(block: ContentBlock): number
  /** Ignored if the block is not open. */
  delta(index: number, delta: BlockDelta): void
  close(index: number): void
  /** Writes a complete block. */
  put(block: ContentBlock): void
  /** The stop reason, or later information such as usage. */
  stop(delta: MessageEnd, usage?: unknown): void
  end(): void
  fail(type: string, message: string): void
  ping(): void
  /** The events since the last call of this method. */
  drain(): ModelEvent[]
  readonly isStarted: boolean
  /** The reply has a stop reason, so it is complete even if the connection breaks. */
  readonly isComplete: boolean
  /** Nothing more is written. */
  readonly isOver: boolean
}

export function replyWriter(): ReplyWriter {
  const opened = new Set<number>()
  let events: ModelEvent[] = []
  let blocks = 0
  let isStarted = false
  let isComplete = false
  let isOver = false

  const write = (event: ModelEvent) => {
    if (!isOver) events.push(event)
  }
  const start = (head: MessageHead) => {
    if (isStarted || isOver) return
    isStarted = true
    const id = typeof head.id === 'string' && head.id !== '' ? head.id : `msg_${defaultIdsAndTime.uuid()}`
    write({ type: 'message_start', message: { ...head, id } as { id: string } })
  }
  const open = (block: ContentBlock): number => {
    start({})
    const index = blocks++
    opened.add(index)
    write({ type: 'content_block_start', index, content_block: block })
    return index
  }
  const close = (index: number) => {
    if (opened.delete(index)) write({ type: 'content_block_stop', index })
  }

  return {
    start,
    restart(head) {
      isStarted = false
      isComplete = false
      opened.clear()
      blocks = 0
      start(head)
    },
    open,
    close,
    put: (block) => close(open(block)),
    delta(index, delta) {
      if (opened.has(index)) write({ type: 'content_block_delta', index, delta })
    },
    stop(delta, usage) {
      start({})
      isComplete ||= typeof delta.stop_reason === 'string'
      write({ type: 'message_delta', delta, ...(usage !== undefined && { usage }) })
    },
    end() {
      start({})
      write({ type: 'message_stop' })
      isOver = true
    },
    fail(type, message) {
      write({ type: 'error', error: { type, message } })
      isOver = true
    },
    ping: () => write({ type: 'ping' }),
    drain() {
      const written = events
      events = []
      return written
    },
    get isStarted() {
      return isStarted
    },
    get isComplete() {
      return isComplete
    },
    get isOver() {
      return isOver
    },
  }
}
