import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it } from 'vitest'
import { byQuery, byStreamText, type Story, type Told } from './support/like-stream-text.ts'
import { breaksAfter, frame, frames, refuses } from './support/sse-server.ts'
import {
  chat,
  chatCall,
  functionCall,
  lastChat,
  lastMessage,
  lastResponse,
  message,
  outputText,
  response,
} from './support/wires.ts'

const apiKey = 'none'
const anthropic = (baseURL: string) => createAnthropic({ baseURL, apiKey })('claude-opus-5-5')
const responses = (baseURL: string) => createOpenAI({ baseURL, apiKey }).responses('gpt-5.5')
const compatible = (baseURL: string) => createOpenAICompatible({ name: 'other', baseURL, apiKey }).chatModel('m')

type Fields = Record<string, unknown>
const use = (id: string, name: string, json = '{"n":1}') =>
  [
    { type: 'tool_use', id, name, input: {} },
    { type: 'input_json_delta', partial_json: json },
  ] as const
const said = (words: string) =>
  [
    { type: 'text', text: '' },
    { type: 'text_delta', text: words },
  ] as const
const unsigned = [
  { type: 'thinking', thinking: '', signature: '' },
  { type: 'thinking_delta', thinking: 'Hm.' },
] as const
const fallback = [{ type: 'fallback', from: { model: 'a' }, to: { model: 'b' }, trigger: { type: 'refusal' } }] as const
const search = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
  { type: 'input_json_delta', partial_json: '{"query":"x"}' },
] as const
const found = [{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }] as const
const webSearch = { web_search: createAnthropic({ apiKey }).tools.webSearch_20250305({}) as never }

/** The events of a reply, changed. */
const changed = (reply: string, change: (events: Fields[]) => Fields[]): string =>
  frames(change([...reply.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data as string))))
/** The same reply without its last two events: no stop reason, no end. */
const unfinished = (reply: string): string => changed(reply, (events) => events.slice(0, -2))

const code = [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'x' } }] as const
const codeRan = [
  {
    type: 'code_execution_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: { type: 'code_execution_result', stdout: '', stderr: '', return_code: 0, content: [] },
  },
] as const
const programUse = (id: string, n: number) =>
  [
    {
      type: 'tool_use',
      id,
      name: 'Read',
      input: { n },
      caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' },
    },
  ] as const
/** The same reply, of a container, with calls that are complete when it starts. */
const inContainer = (reply: string, content: readonly Fields[] = []): string =>
  changed(reply, (events) =>
    events.map((event) => {
      if (event.type === 'message_start') return { ...event, message: { ...(event.message as object), content } }
      if (event.type !== 'message_delta') return event
      const container = { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' }
      return { ...event, delta: { ...(event.delta as object), container } }
    }),
  )

/** What `streamText()` does wrong, and where it shows: the service's refusal, or how many requests it makes. */
type Fault = { readonly does: string } & ({ readonly refused: RegExp } | { readonly requests: number })

interface Point extends Story {
  readonly streamText: 'same' | Fault
  /** The last message that `query()` sends, where `streamText()` is no oracle. */
  readonly sends?: object
  /** Calls that ran, and how the query ended. */
  readonly ran: readonly string[]
  readonly reason?: string
  readonly requests: number
  /** What `model_retry` calls the errors. */
  readonly retries?: readonly string[]
}

/** The message that answers the calls of the last reply. */
const results = (...answers: readonly object[]) => ({
  role: 'user',
  content: answers.map((answer) => expect.objectContaining({ type: 'tool_result', ...answer })),
})

const stackTrace = 'Oh\n    at fail (/app/service.js:10:5)\n    at /app/main.js:3:1'

/** An error as a chunk of a chat, after some text. */
const inChunk = (title: string, error: object, kind: string): Record<string, Point> => ({
  [title]: {
    streamText: { does: 'does not retry an error in a stream', requests: 1 },
    sends: { role: 'user', content: 'Go.' },
    provider: compatible,
    replies: [frames([{ choices: [{ delta: { content: 'I' } }] }, { error }], false) + frame('[DONE]'), lastChat],
    ran: [],
    requests: 2,
    retries: [kind],
  },
})

/** An error as the first event of a response. */
const inResponse = (title: string, code: string, kind: string): Record<string, Point> => ({
  [title]: {
    streamText: 'same',
    provider: responses,
    replies: [frames([{ type: 'error', code, message: 'Busy', param: null, sequence_number: 1 }]), lastResponse],
    ran: [],
    requests: 2,
    retries: [kind],
  },
})

const points: Record<string, Point> = {
  '1 a fallback block in mid-output': {
    streamText: { does: 'sends the declined call back', refused: /tool_use before the last fallback block/ },
    sends: results({ tool_use_id: 'r' }),
    provider: anthropic,
    tools: ['Write', 'Read'],
    replies: [
      message('msg_1', [use('w', 'Write'), fallback, said('I do.'), use('r', 'Read')], 'tool_use'),
      lastMessage,
    ],
    ran: ['Read {"n":1}'],
    requests: 2,
  },
  '2 a paused turn of the service': {
    streamText: 'same',
    provider: anthropic,
    providerTools: webSearch,
    replies: [message('msg_1', [search], 'pause_turn'), message('msg_2', [found, said('So.')], 'end_turn')],
    ran: [],
    requests: 2,
  },
  '3 calls that arrive complete in message_start, and a container': {
    streamText: {
      does: 'names no container unless prepareStep passes it on',
      refused: /container: required while code waits/,
    },
    provider: anthropic,
    tools: ['Read'],
    providerTools: { code_execution: createAnthropic({ apiKey }).tools.codeExecution_20260120({}) as never },
    replies: [
      inContainer(message('msg_1', [code, programUse('a', 1)], 'tool_use')),
      inContainer(message('msg_2', [], 'tool_use'), [programUse('b', 2)[0]]),
      message('msg_3', [codeRan, said('So.')], 'end_turn'),
    ],
    ran: ['Read {"n":1}', 'Read {"n":2}'],
    requests: 3,
  },
  '4 the reasoning of an answer after calls, and another prompt': {
    streamText: 'same',
    provider: compatible,
    tools: ['Read'],
    prompts: ['And?', 'And then?'],
    replies: [
      chat('chat_1', [{ reasoning_content: 'Look.' }, chatCall('c', 'Read', '{"n":1}')], 'tool_calls'),
      chat('chat_2', [{ reasoning_content: 'Sum up.' }, { content: 'So.' }], 'stop'),
      chat('chat_3', [{ reasoning_content: 'No need.' }, { content: 'Yes.' }], 'stop'),
      lastChat,
    ],
    ran: ['Read {"n":1}'],
    requests: 4,
  },
  '6 pings in a long thought': {
    streamText: 'same',
    provider: anthropic,
    tools: ['Read'],
    replies: [
      changed(message('msg_1', [unsigned, use('r', 'Read')], 'tool_use'), (events) =>
        events.flatMap((event) => [event, { type: 'ping' }]),
      ),
      lastMessage,
    ],
    ran: ['Read {"n":1}'],
    requests: 2,
  },
  '9 a connection that breaks after something was done': {
    streamText: { does: 'ends with the error, and never tells the model what was done', requests: 1 },
    sends: results({ tool_use_id: 'w' }),
    provider: anthropic,
    tools: ['Write'],
    replies: [
      breaksAfter(unfinished(message('msg_1', [use('w', 'Write'), said('and then')], 'tool_use'))),
      lastMessage,
    ],
    ran: ['Write {"n":1}'],
    requests: 2,
  },
  'unsigned thinking': {
    streamText: 'same',
    provider: anthropic,
    tools: ['Read'],
    replies: [message('msg_1', [unsigned, use('r', 'Read')], 'tool_use'), lastMessage],
    ran: ['Read {"n":1}'],
    requests: 2,
  },
  'a block under an index that was used before': {
    streamText: 'same',
    provider: anthropic,
    tools: ['Read'],
    replies: [
      changed(message('msg_1', [said('Look.'), use('r', 'Read')], 'tool_use'), (events) =>
        events.map((event) => ('index' in event ? { ...event, index: 0 } : event)),
      ),
      lastMessage,
    ],
    ran: ['Read {"n":1}'],
    requests: 2,
  },
  'a repeated message_delta': {
    streamText: 'same',
    provider: anthropic,
    tools: ['Read'],
    replies: [
      changed(message('msg_1', [use('r', 'Read')], 'tool_use'), (events) => [
        ...events.slice(0, -1),
        ...events.slice(-2),
      ]),
      lastMessage,
    ],
    ran: ['Read {"n":1}'],
    requests: 2,
  },
  'an id that the service would refuse': {
    streamText: { does: 'sends the id back as it came', refused: /id functions\.Read:0 does not match the pattern/ },
    sends: results({ tool_use_id: expect.stringMatching(/^[\w-]+$/) }),
    provider: anthropic,
    tools: ['Read'],
    replies: [message('msg_1', [use('functions.Read:0', 'Read')], 'tool_use'), lastMessage],
    ran: ['Read {"n":1}'],
    requests: 2,
  },
  'a refusal after some words': {
    streamText: 'same',
    provider: anthropic,
    replies: [message('msg_1', [said('I')], 'refusal')],
    ran: [],
    requests: 1,
  },
  'a call cut off before its first argument': {
    streamText: { does: 'ends, and the call has no result', requests: 1 },
    sends: results({ tool_use_id: 'r', is_error: true }),
    provider: anthropic,
    tools: ['Read'],
    replies: [message('msg_1', [[{ type: 'tool_use', id: 'r', name: 'Read', input: {} }]], 'max_tokens'), lastMessage],
    ran: [],
    requests: 2,
  },
  'an input that never fits into max_tokens': {
    streamText: { does: 'asks again until its own limit of steps', requests: 10 },
    sends: results({ tool_use_id: 'r1', is_error: true }),
    provider: anthropic,
    tools: ['Read'],
    replies: Array.from({ length: 12 }, (_, at) =>
      message(`msg_${at}`, [use(`r${at}`, 'Read', '{"n":')], 'max_tokens'),
    ),
    ran: [],
    requests: 3,
  },
  'finish_reason error': {
    streamText: { does: 'takes the reply as complete', requests: 1 },
    sends: { role: 'user', content: 'Go.' },
    provider: compatible,
    replies: [chat('chat_1', [{ content: 'I' }], 'error'), lastChat],
    ran: [],
    requests: 2,
    retries: ['server'],
  },
  ...inChunk('429 in a chunk', { code: 429, message: 'Slow' }, 'rate_limited'),
  ...inChunk('502 in a chunk', { code: 502, message: 'Bad gateway' }, 'server'),
  ...inChunk('server_is_overloaded in a chunk', { code: 'server_is_overloaded', message: 'Busy' }, 'overloaded'),
  ...inChunk('slow_down in a chunk', { code: 'slow_down', message: 'Slow' }, 'rate_limited'),
  ...inChunk('an error whose message is a stack trace', { code: 500, message: stackTrace }, 'server'),
  ...inResponse('server_is_overloaded in a stream', 'server_is_overloaded', 'overloaded'),
  ...inResponse('slow_down in a stream', 'slow_down', 'rate_limited'),
  insufficient_quota: {
    streamText: { does: 'asks again, although no retry can help', requests: 3 },
    provider: responses,
    replies: [
      refuses(
        429,
        { error: { message: 'Pay', code: 'insufficient_quota', type: 'insufficient_quota' } },
        { 'retry-after-ms': '1' },
      ),
    ],
    ran: [],
    reason: 'model_error',
    requests: 1,
  },
  'x-should-retry: false': {
    streamText: { does: 'ignores the header', requests: 3 },
    provider: anthropic,
    replies: [
      refuses(
        529,
        { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } },
        { 'x-should-retry': 'false', 'retry-after-ms': '1' },
      ),
    ],
    ran: [],
    reason: 'model_error',
    requests: 1,
  },
  'words after a call': {
    streamText: 'same',
    provider: anthropic,
    tools: ['Read'],
    replies: [message('msg_1', [use('r', 'Read'), said('and then')], 'tool_use'), lastMessage],
    ran: ['Read {"n":1}'],
    requests: 2,
  },
  'words and a call in one response': {
    streamText: 'same',
    provider: responses,
    tools: ['Read'],
    replies: [response('resp_1', [outputText('msg_1', 'So.'), functionCall('call_1', 'Read', { n: 1 })]), lastResponse],
    ran: ['Read {"n":1}'],
    requests: 2,
  },
}

/** Stops, refusals, shortened results, hanging connections and cache marks: see stream-text-moments.test.ts. */
describe('moments in which services surprise: query() sends what streamText() sends, or streamText() is wrong', () => {
  it.each(Object.entries(points))('%s', async (_, point) => {
    // the service itself fails the test if it would refuse a request of query()
    const told: Told = await byQuery(point)
    expect(told.ran).toEqual(point.ran)
    expect(told.result).toMatchObject({ reason: point.reason ?? 'completed' })
    expect(told.requests).toHaveLength(point.requests)
    const retries = told.reports.filter(({ subtype }) => subtype === 'model_retry')
    if (point.retries) expect(retries.map(({ errorKind }) => errorKind)).toEqual(point.retries)
    for (const { error } of retries) expect(error).not.toMatch(/\n\s+at |:\d+:\d+/)
    const { streamText } = point
    if (streamText === 'same') return expect(told.requests).toEqual((await byStreamText(point)).requests)
    const isRefused = 'refused' in streamText && streamText.refused
    const { requests } = await byStreamText({ ...point, isRefused })
    // up to there the two agree
    expect(told.requests[0]).toEqual(requests[0])
    if ('requests' in streamText) expect(requests).toHaveLength(streamText.requests)
    const { messages } = Object(told.requests.at(-1)) as { messages: object[] }
    if (point.sends) expect(messages.at(-1)).toMatchObject(point.sends)
  })
})
