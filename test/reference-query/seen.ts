import type { Message, QueryMessage, ToolResultBlock } from '../../src/index.ts'
import { inShort } from '../support/query.ts'

/** Names calls as the story does: by the model's id, or by its number if it got another id. */
export class CallNames {
  readonly #given: ReadonlySet<string>
  readonly #minted = new Map<string, string>()

  constructor(given: ReadonlySet<string>) {
    this.#given = given
  }

  of(id: string): string {
    if (this.#given.has(id)) return id
    const name = this.#minted.get(id) ?? `new${this.#minted.size + 1}`
    this.#minted.set(id, name)
    return name
  }

  /** A transcript in short; notes of hooks are only marked. */
  inShort(messages: readonly Message[]): string[] {
    return inShort(messages).map((line) => this.rename(line))
  }

  rename(line: string): string {
    if (line.startsWith('user: <')) return 'user: note'
    return [...this.#minted].reduce((short, [id, name]) => short.replace(id, name), line)
  }
}

/** A yielded message in a few words; empty for hook messages that are only for people. */
export function messageInWords(message: QueryMessage, names: CallNames): string | undefined {
  if (message.type === 'assistant') {
    const [block] = message.message.content
    if (block?.type === 'text') return `says ${block.text}`
    if (block?.type === 'tool_use') return `calls ${names.of(String(block.id))} ${block.name}`
    return String(block?.type)
  }
  if (message.type === 'user') {
    const { content } = message.message
    if (typeof content === 'string') return `user ${content}`
    const [block] = content
    if (block?.type === 'text') return `user ${block.text}`
    const { tool_use_id, is_error, content: result } = block as ToolResultBlock
    return `result ${names.of(tool_use_id)} ${is_error === true ? 'error' : result}`
  }
  if (message.type === 'progress') return `progress ${names.of(message.parentToolUseID)}`
  if (message.type === 'attachment') return `note ${names.of(String(message.toolUseID))}`
  if (message.type === 'stream_event') return 'event'
  return systemInWords(message as Record<string, unknown>, names)
}

function systemInWords(message: Record<string, unknown>, names: CallNames): string | undefined {
  if (message.subtype === 'stop_hook_summary') return undefined
  if (message.subtype === 'model_reply') return `reply ${message.stopReason}`
  if (message.subtype !== 'model_retry') return `system ${message.subtype}`
  const { errorKind, error, delayMs, isFallback, discarded, calls } = message as {
    errorKind: string
    error: string
    delayMs: number
    isFallback: boolean
    discarded: string[]
    calls: { id: string; name: string; started: boolean; completed: boolean }[]
  }
  const lost = calls.map(({ id, started, completed }) => discardedInWords(names.of(id), started, completed))
  return retryInWords({ errorKind, error: firstLine(error), delayMs, isFallback, discarded: discarded.length, lost })
}

const firstLine = (error: string): string => error.replace(/^\w*Error: /, '').split('\n')[0] ?? ''

export const discardedInWords = (name: string, started: boolean, completed: boolean): string =>
  `${name}${started ? ' began' : ''}${completed ? ' ended' : ''}`

export const retryInWords = (retry: {
  readonly errorKind: string
  readonly error: string
  readonly delayMs: number
  readonly isFallback: boolean
  readonly discarded: number
  readonly lost: readonly string[]
}): string =>
  [
    `retry after ${retry.errorKind} (${retry.error})`,
    `in ${retry.delayMs} ms`,
    ...(retry.isFallback ? ['by the fallback'] : []),
    `${retry.discarded} discarded`,
    ...retry.lost,
  ].join(', ')
