import type { ContentBlock } from '../messages/message.ts'

/** One block of a message, read once. */
export interface Slot {
  readonly kind: 'call' | 'result' | 'text' | 'other'
  /** The position in its message. */
  readonly index: number
  /** The id of a call, or of the call that a result is for, as given. */
  readonly id: string
  /** The text is only white space. */
  readonly isBlank: boolean
  block: ContentBlock
  isGone?: boolean
}

/** One message during the repair. */
export interface Entry {
  readonly at: number
  /** An `aside`, such as progress, is not sent. */
  readonly side: 'assistant' | 'user' | 'aside'
  readonly source: unknown
  /** For assistant messages of our own form: the id of the reply that they are part of. */
  readonly reply?: string
  slots: Slot[]
  /** Has content that is not inspected, so the entry never counts as empty. */
  readonly isOpaque: boolean
  /** `kept` and `changed` come from the source; `made` is new. */
  state: 'kept' | 'changed' | 'made'
  /** For a result that was added: the message with its call, and the value for user interfaces. */
  readonly answers?: Entry
  readonly toolUseResult?: string
}

export const hasContent = ({ slots, isOpaque }: Entry): boolean => isOpaque || slots.length > 0

export function markChanged(entry: Entry): void {
  if (entry.state === 'kept') entry.state = 'changed'
}

/** A user message that is added. */
export const madeEntry = (slots: Slot[], at: number): Entry => ({
  at,
  side: 'user',
  source: undefined,
  slots,
  isOpaque: false,
  state: 'made',
})

/** Messages of our own form are checked as `toApiMessages` sends them, plain ones as they are. */
export type Form = 'own' | 'plain'

/**
 * Splits a transcript into turns: a reply of the assistant with all messages up to the next reply. The messages before the
 * first reply are a turn too. Our own messages of one reply stay together even if user messages are between them,
 * because results may arrive while a reply is still streaming.
 */
export function turnsOf(entries: readonly Entry[]): Entry[][] {
  const turns: Entry[][] = []
  let hasReply = false
  let isAnswered = false
  let reply: string | undefined
  for (const entry of entries) {
    const isOther = entry.reply === undefined || entry.reply !== reply
    const isNext = entry.side === 'assistant' && (!hasReply || (isAnswered && isOther))
    const turn = turns.at(-1)
    if (turn === undefined || isNext) turns.push([entry])
    else turn.push(entry)
    if (isNext) isAnswered = false
    if (entry.side === 'assistant') {
      hasReply = true
      reply = entry.reply
    } else isAnswered ||= entry.side === 'user' && hasContent(entry)
  }
  return turns
}
