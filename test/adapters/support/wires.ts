import { frame, frames } from './sse-server.ts'

/** Replies in the formats of services, written from their documentation, for conversations over the wire. */

type Fields = Record<string, unknown>

const item = (output_index: number, done: Fields, added: Fields = {}) => [
  { type: 'response.output_item.added', output_index, item: { ...done, ...added } },
  ...(done.type === 'message' ? words(output_index, done) : []),
  { type: 'response.output_item.done', output_index, item: done },
]

const words = (output_index: number, { id, content }: Fields) => {
  const [{ text }] = content as [{ text: string }]
  const head = { output_index, item_id: id, content_index: 0 }
  return [
    { type: 'response.output_text.delta', ...head, delta: text, logprobs: [] },
    { type: 'response.output_text.done', ...head, text, logprobs: [] },
  ]
}

/** A response of these items, in complete pieces. */
export const response = (id: string, items: readonly Fields[]): string =>
  frames([
    {
      type: 'response.created',
      response: { id, object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] },
    },
    ...items.flatMap((each, at) => item(at, each, begun(each))),
    {
      type: 'response.completed',
      response: {
        id,
        object: 'response',
        created_at: 1,
        model: 'm',
        status: 'completed',
        output: items,
        usage: {
          input_tokens: 20,
          input_tokens_details: { cached_tokens: 5 },
          output_tokens: 9,
          output_tokens_details: { reasoning_tokens: 3 },
          total_tokens: 29,
        },
      },
    },
  ])

/** An item as it is announced, before it is done. */
function begun({ type }: Fields): Fields {
  if (type === 'function_call') return { arguments: '', status: 'in_progress' }
  if (type === 'custom_tool_call') return { input: '', status: 'in_progress' }
  if (type === 'message') return { content: [], status: 'in_progress' }
  return type === 'reasoning' ? { encrypted_content: null } : {}
}

export const functionCall = (call_id: string, name: string, input: unknown, rest: Fields = {}): Fields => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: typeof input === 'string' ? input : JSON.stringify(input),
  status: 'completed',
  ...rest,
})
export const outputText = (id: string, text: string): Fields => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
export const webSearch = (id: string): Fields => ({
  type: 'web_search_call',
  id,
  status: 'completed',
  action: { type: 'search', query: 'x' },
})

/** A chat reply of these deltas, with its usage after the finish reason, as OpenAI sends it, or along with it. */
export const chat = (id: string, deltas: readonly Fields[], finish_reason: string, isUsageApart = true): string => {
  const head = { id, object: 'chat.completion.chunk', created: 1, model: 'm' }
  const chunk = (delta: Fields, reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  const usage = {
    prompt_tokens: 20,
    completion_tokens: 9,
    total_tokens: 29,
    prompt_tokens_details: { cached_tokens: 5 },
  }
  const end = chunk({}, finish_reason)
  const ending = isUsageApart ? [end, { ...head, choices: [], usage }] : [{ ...end, usage }]
  return frames([...deltas.map((each) => chunk(each)), ...ending], false) + frame('[DONE]')
}

export const chatCall = (id: string, name: string, args: unknown, rest: Fields = {}): Fields => ({
  tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: args }, ...rest }],
})

/** A reply of the Messages API of these blocks, with their pieces. */
export const message = (id: string, blocks: readonly (readonly [Fields, ...Fields[]])[], stop_reason: string): string =>
  frames([
    {
      type: 'message_start',
      message: {
        id,
        type: 'message',
        role: 'assistant',
        content: [],
        model: 'claude-opus-5-5',
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 20, output_tokens: 1 },
      },
    },
    ...blocks.flatMap(([content_block, ...deltas], index) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { input_tokens: 20, output_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    },
    { type: 'message_stop' },
  ])

export const lastResponse = response('resp_last', [outputText('msg_last', 'Done.')])
export const lastChat = chat('chat_last', [{ role: 'assistant', content: 'Done.' }], 'stop')
export const lastAtMistral = chat('chat_last', [{ role: 'assistant', content: 'Done.' }], 'stop', false)
export const lastMessage = message(
  'msg_last',
  [
    [
      { type: 'text', text: '' },
      { type: 'text_delta', text: 'Done.' },
    ],
  ],
  'end_turn',
)
