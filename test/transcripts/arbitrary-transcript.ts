import fc from 'fast-check'
import type { ApiMessage, ContentBlock, Message } from '../../src/index.ts'
import {
  createAssistantMessage,
  createAttachmentMessage,
  createProgressMessage,
  createSystemMessage,
  createToolResultMessage,
  createUserMessage,
} from '../../src/messages/create-messages.ts'

/** One reply of the model and its answer. */
interface Round {
  readonly thinks: boolean
  readonly says: string | undefined
  readonly searches: boolean
  readonly calls: number
  /** One message per result, or one with all. */
  readonly isSpread: boolean
  readonly isReversed: boolean
  readonly follows: 'nothing' | 'attachment' | 'question'
  readonly noise: boolean
  /** Results arrive while the reply is still streaming. */
  readonly isEarly: boolean
  /** A failed attempt that was discarded. */
  readonly isRetried: boolean
}

const round: fc.Arbitrary<Round> = fc.record({
  thinks: fc.boolean(),
  says: fc.option(fc.constantFrom('Let me look.', '\n\n', 'Done.'), { nil: undefined }),
  searches: fc.boolean(),
  calls: fc.nat(3),
  isSpread: fc.boolean(),
  isReversed: fc.boolean(),
  follows: fc.constantFrom('nothing', 'attachment', 'question'),
  noise: fc.boolean(),
  isEarly: fc.boolean(),
  isRetried: fc.boolean(),
})

const rounds = fc.array(round, { maxLength: 6 })

/** A transcript that the API accepts, in its own form. */
export const plainTranscript: fc.Arbitrary<ApiMessage[]> = rounds.map((all) => {
  const messages: ApiMessage[] = [{ role: 'user', content: 'Please fix the build.' }]
  for (const [index, each] of all.entries()) {
    const { content, results } = blocksOf(each, index)
    if (each.isSpread && content.length > 1 && !content.some(isBlank)) {
      messages.push(
        { role: 'assistant', content: content.slice(0, 1) },
        { role: 'assistant', content: content.slice(1) },
      )
    } else messages.push({ role: 'assistant', content })
    if (each.isSpread) for (const result of results) messages.push({ role: 'user', content: [result] })
    else if (results.length > 0) messages.push({ role: 'user', content: results })
    if (each.follows !== 'nothing') messages.push({ role: 'user', content: `And then? (${index})` })
  }
  return messages
})

/** The same in our own form. */
export const ownTranscript: fc.Arbitrary<Message[]> = rounds.map((all) => {
  const messages: Message[] = [createUserMessage('Please fix the build.')]
  for (const [index, each] of all.entries()) {
    const { content, results } = blocksOf(each, index)
    if (each.isRetried) messages.push(...failedAttempt(content))
    const parts = each.isSpread || each.isEarly ? content.map((block) => [block]) : [content]
    const resultOf = ({ id }: ContentBlock): ContentBlock[] => results.filter(({ tool_use_id }) => tool_use_id === id)
    for (const part of parts) {
      messages.push(createAssistantMessage(part, { id: `msg_${index}` }))
      if (each.isEarly) messages.push(...part.flatMap(resultOf).map((result) => createUserMessage([result])))
    }
    const last = messages.at(-1) as Message
    if (each.noise) messages.push(createProgressMessage({ toolUseID: 'x', parentToolUseID: 'x', data: index }))
    if (each.follows === 'attachment')
      messages.push(createAttachmentMessage({ type: 'note', content: `note ${index}` }))
    if (each.isSpread && !each.isEarly) {
      for (const result of results) {
        messages.push(createToolResultMessage(result as never, { sourceToolAssistantUUID: last.uuid }))
      }
    } else if (results.length > 0 && !each.isEarly) messages.push(createUserMessage(results))
    if (each.noise) messages.push(createSystemMessage({ subtype: 'stop_hook_summary' }))
    if (each.follows === 'question') messages.push(createUserMessage(`And then? (${index})`))
  }
  return messages
})

function failedAttempt(content: ContentBlock[]): Message[] {
  const attempt = createAssistantMessage(structuredClone(content))
  return [attempt, createSystemMessage({ subtype: 'model_retry', discarded: [attempt.uuid] })]
}

const isBlank = ({ type, text }: ContentBlock): boolean => type === 'text' && String(text).trim() === ''

function blocksOf(each: Round, index: number): { content: ContentBlock[]; results: ContentBlock[] } {
  const content: ContentBlock[] = []
  if (each.thinks) content.push({ type: 'thinking', thinking: 'hm', signature: 's' })
  if (each.searches) {
    content.push({ type: 'server_tool_use', id: `srvtoolu_${index}`, name: 'web_search', input: { query: 'q' } })
    content.push({ type: 'web_search_tool_result', tool_use_id: `srvtoolu_${index}`, content: [] })
  }
  if (each.says !== undefined) content.push({ type: 'text', text: each.says })
  const ids = Array.from({ length: each.calls }, (_, n) => `toolu_${index}_${n}`)
  for (const id of ids) content.push({ type: 'tool_use', id, name: 'Bash', input: { command: `echo ${id}` } })
  if (content.every(isBlank)) content.push({ type: 'text', text: 'All is well.' })
  const results = ids.map((id, n) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: `${id} said`,
    is_error: n === 1,
  }))
  return { content, results: each.isReversed ? results.reverse() : results }
}
