import { readField } from '../base/read-field.ts'

/** Calls that the service runs itself. Their results are in an assistant message. */
const serverCalls = new Set<unknown>(['server_tool_use', 'mcp_tool_use'])

export const isServerCall = (block: unknown): boolean => serverCalls.has(readField(block, 'type'))

/** `web_search_tool_result`, `mcp_tool_result`, and future ones. */
export const isServerResult = (block: unknown): boolean => {
  const type = readField(block, 'type')
  return typeof type === 'string' && type !== 'tool_result' && type.endsWith('_tool_result')
}

/** Marks where a model declined and another one continues its reply. Through the AI SDK it is a part of the provider. */
export const isHandover = (block: unknown): boolean => {
  const type = readField(block, 'type')
  return type === 'fallback' || (type === 'ai_sdk_part' && readField(readField(block, 'part'), 'kind') === sdkFallback)
}

const sdkFallback = 'anthropic.fallback'

const partOf = (block: unknown): unknown =>
  readField(block, 'type') === 'ai_sdk_part' ? readField(block, 'part') : undefined

/** The id of a call that the service or a provider of the AI SDK runs; undefined for any other block. */
export const serverCallId = (block: unknown): unknown => {
  if (isServerCall(block)) return readField(block, 'id')
  const part = partOf(block)
  return readField(part, 'type') === 'tool-call' ? readField(part, 'toolCallId') : undefined
}

/** The id of the call that such a result is for. */
export const serverResultId = (block: unknown): unknown => {
  if (isServerResult(block)) return readField(block, 'tool_use_id')
  const part = partOf(block)
  return readField(part, 'type') === 'tool-result' ? readField(part, 'toolCallId') : undefined
}

/** The part from which another model may continue: text of the model that declined, and its completed server calls. */
export function survivesHandover(block: unknown, before: readonly unknown[]): boolean {
  const type = readField(block, 'type')
  if (type === 'tool_use' || type === 'thinking' || type === 'redacted_thinking') return false
  const id = serverCallId(block)
  return id === undefined || before.some((other) => serverResultId(other) === id)
}

export const isToolResult = (block: unknown): boolean => readField(block, 'type') === 'tool_result'

interface Turn {
  readonly role: string
  readonly blocks: readonly unknown[]
}

/** Why the service would reject a block: a call without a result, or a result without its call. */
type ServerToolFlaw = 'unanswered' | 'orphan'

/** The server-tool blocks that the service would reject, by turn and position. */
export const serverToolFlaws = (turns: readonly Turn[]): Flaws => readServerTools(turns).flaws

/** True if a later turn may still answer a server call. */
export const hasOpenServerCall = (turns: readonly Turn[]): boolean => readServerTools(turns).open.size > 0

type Flaws = Map<number, Map<number, ServerToolFlaw>>

/**
 * A server call may be open at the very end, where the service continues it, and while client calls are answered: as long
 * as only results are between, a later reply may bring the server's own result.
 */
function readServerTools(turns: readonly Turn[]): { flaws: Flaws; open: ReadonlyMap<unknown, unknown> } {
  const flaws: Flaws = new Map()
  const open = new Map<unknown, readonly [turn: number, index: number]>()
  const flag = (turn: number, index: number, flaw: ServerToolFlaw): void => {
    flaws.set(turn, (flaws.get(turn) ?? new Map()).set(index, flaw))
  }
  const giveUp = (id: unknown): void => {
    const place = open.get(id)
    if (place !== undefined) flag(...place, 'unanswered')
    open.delete(id)
  }
  for (const [turn, { role, blocks }] of turns.entries()) {
    if (role !== 'assistant') {
      if (!blocks.every(isToolResult)) for (const id of [...open.keys()]) giveUp(id)
      continue
    }
    for (const [index, block] of blocks.entries()) {
      if (isServerCall(block)) {
        const id = readField(block, 'id')
        giveUp(id)
        open.set(id, [turn, index])
      } else if (isServerResult(block) && !open.delete(readField(block, 'tool_use_id'))) flag(turn, index, 'orphan')
    }
  }
  return { flaws, open }
}
