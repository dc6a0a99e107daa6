import { createSystemMessage } from '../messages/create-messages.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { AssistantMessage, Message, ToolUseBlock } from '../messages/message.ts'
import { answerOpenCalls } from '../transcripts/answer-open-calls.ts'
import type { QueryLoop } from './query-loop.ts'
import type { QueryMessage } from './query-message.ts'

export interface OpenCall {
  readonly block: ToolUseBlock
  readonly message: AssistantMessage
}

/** The calls of a conversation without a result, for example after a crash. A service rejects a conversation with such calls. */
export class OpenCalls {
  /** The conversation in which every call has a result, except those that will run. */
  readonly messages: readonly Message[]
  readonly toRun: readonly OpenCall[]
  readonly #added: readonly Message[]
  readonly #idsAndTime: IdsAndTime

  constructor(given: readonly Message[], mode: 'answer' | 'run' = 'answer', idsAndTime: IdsAndTime) {
    this.#idsAndTime = idsAndTime
    this.toRun = mode === 'run' ? lastCallsOf(given) : []
    const toRun = new Set<unknown>(this.toRun.map(({ block }) => block))
    this.messages = answerOpenCalls(given, (call) => toRun.has(call), idsAndTime)
    const known = new Set<unknown>(given)
    this.#added = this.messages === given ? [] : this.messages.filter((message) => !known.has(message))
  }

  /** The messages for the host when the query starts. */
  report(): QueryMessage[] {
    if (this.#added.length === 0) return []
    const toolUseIDs = this.#added.flatMap((message) => resultIdsOf(message))
    const fields = {
      subtype: 'unanswered_calls',
      toolUseIDs,
      message: `The conversation contained ${toolUseIDs.length === 1 ? 'a call' : `${toolUseIDs.length} calls`} without a result. The model is told that the result was lost.`,
    }
    return [createSystemMessage(fields, this.#idsAndTime), ...this.#added]
  }
}

/** Runs before the first request to the model, as a separate attempt. */
export function runOpenCalls(loop: QueryLoop): void {
  loop.isFresh = false
  loop.onExecutor?.(loop.executor)
  loop.attempt.resume(loop.openCalls.toRun)
}

/** The calls of the last reply, if only results follow it. */
function lastCallsOf(messages: readonly Message[]): OpenCall[] {
  const answered = new Set<unknown>()
  const calls: OpenCall[] = []
  let reply: string | undefined
  for (const message of messages.toReversed()) {
    if (message.type === 'user') {
      const ids = resultIdsOf(message)
      if (ids.length === 0) break
      for (const id of ids) answered.add(id)
    } else if (message.type === 'assistant') {
      if (reply !== undefined && message.message.id !== reply) break
      reply = message.message.id
      const own = message.message.content.filter((block) => block.type === 'tool_use' && !answered.has(block.id))
      calls.unshift(...own.map((block) => ({ block: block as ToolUseBlock, message })))
    }
  }
  return calls
}

function resultIdsOf(message: Message): unknown[] {
  if (message.type !== 'user' || typeof message.message.content === 'string') return []
  return message.message.content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
}
