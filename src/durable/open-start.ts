import type { OpenTurn } from '../journal/open-turn.ts'
import { defaultIdsAndTime } from '../messages/ids-and-time.ts'
import type { AssistantMessage, ContentBlock, Message, UserMessage } from '../messages/message.ts'
import type { OpenCalls } from '../query/open-calls.ts'

/** The start of a log: the conversation, and the reply whose calls are still to run. */
export interface OpenStart {
  readonly messages: readonly Message[]
  /** The messages of the last reply, a block each, and the results that it has. */
  readonly open?: { readonly assistants: readonly AssistantMessage[]; readonly results: readonly UserMessage[] }
}

/** The last reply is kept apart if it has calls to run: they become the open turn of the log. */
export function startOf({ messages, toRun }: Pick<OpenCalls, 'messages' | 'toRun'>): OpenStart {
  const reply = toRun[0]?.message.message.id
  if (reply === undefined) return { messages }
  const from = messages.findIndex((message) => message.type === 'assistant' && message.message.id === reply)
  const tail = messages.slice(from)
  const assistants = tail.flatMap((message) =>
    message.type !== 'assistant'
      ? []
      : apart(
          message,
          message.message.content.map((block) => [block]),
        ),
  )
  const results = tail.flatMap((message) => (message.type === 'user' ? apart(message, resultsOf(message)) : []))
  return { messages: messages.slice(0, from), open: { assistants, results } }
}

/** The reply as if it had just been received: each call without a result runs as usual. */
export function openTurnOf({ assistants, results }: NonNullable<OpenStart['open']>): OpenTurn {
  const reply = String(assistants[0]?.message.id)
  const calls: OpenTurn['calls'] = new Map()
  for (const { message } of assistants)
    for (const { type, id } of message.content) if (type === 'tool_use') calls.set(String(id), {})
  for (const result of results) {
    const [block] = result.message.content as ContentBlock[]
    calls.set(String(block?.tool_use_id), { completed: [result] })
  }
  const stopped = { reply, isWhole: true, stopReason: 'tool_use', reports: [] }
  return { reply, blocks: assistants.map((message) => ({ reply, message })), calls, stopped }
}

/** One message for each part; the first keeps the uuid. */
const apart = <Given extends AssistantMessage | UserMessage>(given: Given, parts: readonly ContentBlock[][]): Given[] =>
  parts.map((content, index) => ({
    ...given,
    uuid: index === 0 ? given.uuid : defaultIdsAndTime.uuid(),
    message: { ...given.message, content },
  }))

/** Each result by itself; what else the message says goes with the last. */
function resultsOf({ message }: UserMessage): ContentBlock[][] {
  const content = typeof message.content === 'string' ? [] : (message.content as ContentBlock[])
  const results = content.filter(({ type }) => type === 'tool_result').map((block) => [block])
  results.at(-1)?.push(...content.filter(({ type }) => type !== 'tool_result'))
  return results
}
