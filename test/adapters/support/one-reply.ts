/**
 * One reply as four services send it: a word, two calls beside each other, one of them without arguments. What the
 * service itself looked up stands between; it is nobody's call here.
 */
export const oneReply = {
  blocks: [
    { type: 'text', text: 'Let me “see”.' },
    { type: 'tool_use', id: 'call_1', name: 'Read', input: { path: 'ä.ts', lines: [1, 2] } },
    { type: 'tool_use', id: 'call_2', name: 'List', input: {} },
  ],
  stopReason: 'tool_use',
  input: 20,
  cached: 5,
  output: 9,
} as const

const args = ['{"path":"ä', '.ts","lines"', ':[1,2]}'] as const
const words = ['Let me ', '“see”', '.'] as const

const messagesBlock = (index: number, content_block: object, deltas: readonly object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

export const asMessagesEvents: readonly object[] = [
  {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'm', usage: { input_tokens: 15 } },
  },
  { type: 'ping' },
  ...messagesBlock(
    0,
    { type: 'text', text: '' },
    words.map((text) => ({ type: 'text_delta', text })),
  ),
  ...messagesBlock(1, { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }, [
    { type: 'input_json_delta', partial_json: '{"query":"x"}' },
  ]),
  ...messagesBlock(2, { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] }, []),
  ...messagesBlock(
    3,
    { type: 'tool_use', id: 'call_1', name: 'Read', input: {} },
    args.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  ),
  ...messagesBlock(4, { type: 'tool_use', id: 'call_2', name: 'List', input: {} }, [
    { type: 'input_json_delta', partial_json: '' },
    { type: 'input_json_delta', partial_json: '{}' },
  ]),
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 9 },
  },
  { type: 'message_stop' },
]

const functionCall = (output_index: number, call_id: string, name: string, pieces: readonly string[]) => {
  const item = { type: 'function_call', id: `fc_${output_index}`, call_id, name, status: 'completed' }
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, arguments: '', status: 'in_progress' } },
    ...pieces.map((delta) => ({
      type: 'response.function_call_arguments.delta',
      output_index,
      item_id: item.id,
      delta,
    })),
    {
      type: 'response.function_call_arguments.done',
      output_index,
      item_id: item.id,
      arguments: pieces.join(''),
    },
    { type: 'response.output_item.done', output_index, item: { ...item, arguments: pieces.join('') } },
  ]
}

const message = { type: 'message', id: 'msg_0', role: 'assistant', status: 'completed', content: [] as object[] }
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } }

export const asResponsesEvents: readonly object[] = [
  { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'm', output: [] } },
  { type: 'response.in_progress', response: { id: 'resp_1', created_at: 1, model: 'm', output: [] } },
  { type: 'response.output_item.added', output_index: 0, item: { ...message, status: 'in_progress' } },
  {
    type: 'response.content_part.added',
    output_index: 0,
    item_id: 'msg_0',
    content_index: 0,
    part: { type: 'output_text', text: '', annotations: [] },
  },
  ...words.map((delta) => ({
    type: 'response.output_text.delta',
    output_index: 0,
    item_id: 'msg_0',
    content_index: 0,
    delta,
  })),
  { type: 'response.output_text.done', output_index: 0, item_id: 'msg_0', content_index: 0, text: words.join('') },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { ...message, content: [{ type: 'output_text', text: words.join(''), annotations: [] }] },
  },
  { type: 'response.output_item.added', output_index: 1, item: { ...search, status: 'in_progress' } },
  { type: 'response.web_search_call.searching', output_index: 1, item_id: 'ws_1' },
  { type: 'response.output_item.done', output_index: 1, item: search },
  ...functionCall(2, 'call_1', 'Read', args),
  ...functionCall(3, 'call_2', 'List', ['{}']),
  {
    type: 'response.completed',
    response: {
      id: 'resp_1',
      model: 'm',
      status: 'completed',
      output: [],
      usage: {
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 5 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 29,
      },
    },
  },
]

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl_1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})

export const asChatChunks: readonly object[] = [
  chunk({ role: 'assistant', content: '' }),
  ...words.map((content) => chunk({ content })),
  chunk({
    tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'Read', arguments: '' } }],
  }),
  ...args.map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
  chunk({ tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'List', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 1, function: { arguments: '{}' } }] }),
  chunk({}, 'tool_calls'),
  {
    ...chunk({}),
    choices: [],
    usage: {
      prompt_tokens: 20,
      prompt_tokens_details: { cached_tokens: 5 },
      completion_tokens: 9,
      total_tokens: 29,
    },
  },
]

export const asStreamParts: readonly object[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', id: 'r_1', modelId: 'm' },
  { type: 'text-start', id: '0' },
  ...words.map((delta) => ({ type: 'text-delta', id: '0', delta })),
  { type: 'text-end', id: '0' },
  { type: 'tool-input-start', id: 'srv_1', toolName: 'web_search', providerExecuted: true },
  { type: 'tool-input-delta', id: 'srv_1', delta: '{"query":"x"}' },
  { type: 'tool-input-end', id: 'srv_1' },
  { type: 'tool-call', toolCallId: 'srv_1', toolName: 'web_search', input: '{"query":"x"}', providerExecuted: true },
  { type: 'tool-result', toolCallId: 'srv_1', toolName: 'web_search', result: [] },
  { type: 'tool-input-start', id: 'call_1', toolName: 'Read' },
  ...args.map((delta) => ({ type: 'tool-input-delta', id: 'call_1', delta })),
  { type: 'tool-input-end', id: 'call_1' },
  { type: 'tool-call', toolCallId: 'call_1', toolName: 'Read', input: args.join('') },
  { type: 'tool-call', toolCallId: 'call_2', toolName: 'List', input: '{}' },
  {
    type: 'finish',
    finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
    usage: {
      inputTokens: { total: 20, noCache: 15, cacheRead: 5, cacheWrite: 0 },
      outputTokens: { total: 9, text: 9, reasoning: 0 },
    },
  },
]

/** The final text of a conversation, in three of the formats. */
export const lastWord = {
  messages: [
    { type: 'message_start', message: { id: 'msg_2', type: 'message', role: 'assistant', content: [], model: 'm' } },
    ...messagesBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Done.' }]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ],
  responses: [
    { type: 'response.created', response: { id: 'resp_2', created_at: 2, model: 'm', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...message, id: 'msg_3' } },
    { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_3', content_index: 0, delta: 'Done.' },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...message, id: 'msg_3', content: [{ type: 'output_text', text: 'Done.', annotations: [] }] },
    },
    { type: 'response.completed', response: { id: 'resp_2', status: 'completed', output: [] } },
  ],
  chat: [chunk({ role: 'assistant', content: 'Done.' }), chunk({}, 'stop')],
}
