import type { ContentBlock } from '../messages/message.ts'

/** One block of a message, read once. */
export interface Slot {
  readonly kind: 'call' | 'result' | 'text' | 'other'
  /** Where it stood in its message. */
  readonly index: number
  /** The id of a call, or of the call that a result is for, as it was found. */
  readonly id: string
  /** Text of nothing but white space. */
  readonly isBlank: boolean
  block: ContentBlock
  isGone?: boolean
}

/** One message on its way through the repair. */
export interface Entry {
  readonly at: number
  /** Asides are not sent: progress and the like. */
  readonly side: 'assistant' | 'user' | 'aside'
  readonly source: unknown
  /** Of own messages of the assistant: the id of the reply that they are a part of. */
  readonly reply?: string
  slots: Slot[]
  /** Has content that is none of our business, so that it is never empty. */
  readonly isOpaque: boolean
  /** Made anew; or from the source, as it is or with other blocks. */
  state: 'kept' | 'changed' | 'made'
  /** For a made result: the message with its call, and what user interfaces see. */
  readonly answers?: Entry
  readonly toolUseResult?: string
}

export const hasContent = ({ slots, isOpaque }: Entry): boolean => isOpaque || slots.length > 0

export function markChanged(entry: Entry): void {
  if (entry.state === 'kept') entry.state = 'changed'
}

/** A message of the user that was not there. */
export const madeEntry = (slots: Slot[], at: number): Entry => ({
  at,
  side: 'user',
  source: undefined,
  slots,
  isOpaque: false,
  state: 'made',
})

/** Own messages are checked as `toApiMessages` sends them, plain ones as they are. */
export type Form = 'own' | 'plain'
