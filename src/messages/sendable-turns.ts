import { copyInput } from '../base/copy-input.ts'
import { isRecord, readField } from '../base/read-field.ts'
import type { ContentBlock } from './message.ts'
import {
  hasOpenServerCall,
  isHandover,
  isServerCall,
  isServerResult,
  isToolResult,
  serverToolFlaws,
  survivesHandover,
} from './server-tools.ts'
import type { ApiMessage } from './to-api-messages.ts'

/**
 * Removes from a conversation what a service would reject: the calls and thinking of a model before it handed its reply to
 * another one, server calls without a result, thinking at the end of a reply, and invalid tool names. Works on one part of
 * the conversation at a time; the first turn of a part may have to be joined to the last turn of the previous part.
 */
export class SendableTurns {
  /** Calls of models that declined; their results are removed too. */
  #declined = new Set<unknown>()
  /** Server calls that were removed. */
  #lost = new Set<unknown>()

  /** The next turns in their final form; undefined while later turns can still change them. */
  settle(turns: ApiMessage[]): ApiMessage[] | undefined {
    return hasOpenServerCall(turns.map(asTurn)) ? undefined : cleaned(turns, this.#declined, this.#lost)
  }

  /** The last turns in their current form. */
  preview(turns: ApiMessage[]): ApiMessage[] {
    return cleaned(turns, new Set(this.#declined), new Set(this.#lost))
  }
}

function cleaned(turns: ApiMessage[], declined: Set<unknown>, lost: Set<unknown>): ApiMessage[] {
  try {
    const isOdd = turns.some(({ role, content }) => role === 'assistant' && someBlock(content, isSpecial))
    const isPlain = !isOdd && declined.size === 0 && lost.size === 0
    const whole = isPlain ? turns : withoutOpenServerCalls(withoutDeclined(turns, declined), lost)
    const sent = whole.map(({ role, content }) => ({
      role,
      content: role === 'assistant' ? sendable(content) : content,
    }))
    return sent.filter((turn, at) => !isEmptied(turn, turns[at]?.content.length ?? 0))
  } catch {
    // an unreadable block: the sender will get the error
    return turns
  }
}

/** If only white space remains, the service would reject the message too. */
const isEmptied = ({ content }: ApiMessage, before: number): boolean =>
  content.length < before && typeof content !== 'string' && content.every(isBlank)

/** Merges a turn with the previous one if both have the same role, as happens after a turn was removed. */
export function joinTurn(turns: ApiMessage[], turn: ApiMessage): void {
  const last = turns.at(-1)
  if (last?.role !== turn.role) turns.push(turn)
  else turns[turns.length - 1] = { role: last.role, content: [...blocksOf(last), ...blocksOf(turn)] }
}

const isSpecial = (block: ContentBlock): boolean => isHandover(block) || isServerCall(block) || isServerResult(block)

const asTurn = ({ role, content }: ApiMessage) => ({ role, blocks: typeof content === 'string' ? [content] : content })

const isThought = ({ type }: ContentBlock): boolean => type === 'thinking' || type === 'redacted_thinking'

const someBlock = (content: ApiMessage['content'], is: (block: ContentBlock) => boolean): boolean =>
  typeof content !== 'string' && content.some(is)

/** After a refusal another model continued: of the first one, only text and complete server calls may be sent back. */
function withoutDeclined(messages: ApiMessage[], declined: Set<unknown>): ApiMessage[] {
  return messages.map(({ role, content }) => {
    if (typeof content === 'string') return { role, content }
    const last = role === 'assistant' ? content.findLastIndex(isHandover) : -1
    const before = content.slice(0, Math.max(last, 0))
    for (const { type, id } of before) if (type === 'tool_use') declined.add(id)
    const isKept = (block: ContentBlock, at: number): boolean =>
      isToolResult(block) ? !declined.has(block.tool_use_id) : at >= last || survivesHandover(block, before)
    return { role, content: content.filter(isKept) }
  })
}

function withoutOpenServerCalls(messages: ApiMessage[], lost: Set<unknown>): ApiMessage[] {
  const turns = messages.map(asTurn)
  const flaws = serverToolFlaws(turns)
  if (flaws.size === 0 && lost.size === 0) return messages
  for (const [turn, places] of flaws)
    for (const [index, flaw] of places) if (flaw === 'unanswered') lost.add(readField(turns[turn]?.blocks[index], 'id'))
  return messages.map(({ role, content }, at) => {
    if (typeof content === 'string' || role !== 'assistant') return { role, content }
    const kept = content.filter((_, index) => !flaws.get(at)?.has(index))
    return { role, content: kept.map((block) => withoutCaller(block, lost)) }
  })
}

/** Removes the caller from a call that was made by server code, if that code was removed. */
function withoutCaller(block: ContentBlock, lost: ReadonlySet<unknown>): ContentBlock {
  const by = block.type === 'tool_use' ? readField(block.caller, 'tool_id') : undefined
  if (by === undefined || !lost.has(by)) return block
  const { caller, ...rest } = block
  return rest as ContentBlock
}

/** An assistant message without thinking at its end, and with valid tool names. */
function sendable(content: ApiMessage['content']): ApiMessage['content'] {
  if (typeof content === 'string') return content
  const end = content.findLastIndex((block) => !isThought(block)) + 1
  const kept = end === content.length ? content : content.slice(0, end)
  return kept.some((block) => nameOf(block) !== block.name) ? kept.map(withName) : kept
}

const isBlank = ({ type, text }: ContentBlock): boolean =>
  type === 'text' && (typeof text !== 'string' || text.trim() === '')

const nameOf = (block: ContentBlock): unknown => (block.type === 'tool_use' ? sendableName(block.name) : block.name)

const withName = (block: ContentBlock): ContentBlock => {
  const name = nameOf(block)
  return name === block.name ? block : ({ ...block, name } as ContentBlock)
}

const blocksOf = ({ content }: ApiMessage): ContentBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

const maxChars = 128

/**
 * A call's name in a form that services accept: letters, digits, `_` and `-`. Models invent names such as
 * `functions.Read`; a service rejects a request that repeats one, and every later request.
 */
export const sendableName = (name: unknown): string =>
  typeof name === 'string' && name !== '' ? name.slice(0, maxChars).replace(/[^a-zA-Z0-9_-]/g, '_') : 'unknown_tool'

/** The API requires an object that can be serialized; a model's input may be neither. */
export function sendableInput(input: unknown): Record<string, unknown> {
  try {
    const copied = copyInput(input, Number.POSITIVE_INFINITY)
    return copied.ok && isRecord(copied.copy) ? copied.copy : {}
  } catch {
    return {}
  }
}
