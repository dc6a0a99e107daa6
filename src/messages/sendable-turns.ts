import { readField } from '../base/read-field.ts'
import type { ContentBlock } from './message.ts'
import { sendableName } from './sendable-name.ts'
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
 * A conversation without what a service would refuse to read again: what a model said before it handed its reply over to
 * another one, calls of the server that never got their result, a thought with nothing after it, made-up names. It is
 * read piece by piece; what is left of one piece may have to be joined to the last turn of the one before.
 */
export class SendableTurns {
  /** Calls of models that declined: their results are left out too. */
  #declined = new Set<unknown>()
  /** Server calls that were left out. */
  #lost = new Set<unknown>()

  /** The next turns, for good. Undefined while later turns can still change them. */
  settle(turns: ApiMessage[]): ApiMessage[] | undefined {
    return hasOpenServerCall(turns.map(asTurn)) ? undefined : settled(turns, this.#declined, this.#lost)
  }

  /** The last turns, as they are for now. */
  preview(turns: ApiMessage[]): ApiMessage[] {
    return settled(turns, new Set(this.#declined), new Set(this.#lost))
  }
}

function settled(turns: ApiMessage[], declined: Set<unknown>, lost: Set<unknown>): ApiMessage[] {
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
    // a stranger that cannot be read: whoever sends it will find out
    return turns
  }
}

/** What is left may be nothing but white space, which is refused too. */
const isEmptied = ({ content }: ApiMessage, before: number): boolean =>
  content.length < before && typeof content !== 'string' && content.every(isBlank)

/** Where a turn has gone, its neighbours stand together. */
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

/** After a refusal another model went on: of the first one, only text and whole server tools may be sent back. */
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

/** A call that code of the server made; where that code is gone, it stands for itself. */
function withoutCaller(block: ContentBlock, lost: ReadonlySet<unknown>): ContentBlock {
  const by = block.type === 'tool_use' ? readField(block.caller, 'tool_id') : undefined
  if (by === undefined || !lost.has(by)) return block
  const { caller, ...rest } = block
  return rest as ContentBlock
}

/** Of one message of the assistant: without a thought at its end, and with names that can be sent. */
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
