import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { isStepCount, type ModelMessage, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { allowAllTools, defineTool, type Query, type QueryMessage, type QueryOptions, query } from '../../src/index.ts'
import { aiSdkModel } from '../../src/models/ai-sdk/index.ts'
import { openaiChatModel } from '../../src/models/openai/index.ts'
import { simulatedClock } from '../../src/testing/index.ts'
import { compactToolResults } from '../../src/transcripts/index.ts'
import { checked } from '../support/services/checked.ts'
import { byQuery, byStreamText, type Story } from './support/like-stream-text.ts'
import { type Answer, type SseServer, sends, sseServer, stallsAfter } from './support/sse-server.ts'
import { talk } from './support/talk.ts'
import {
  chat,
  chatCall,
  functionCall,
  lastChat,
  lastMessage,
  lastResponse,
  message,
  response,
} from './support/wires.ts'

/** Moments that need more than a list of replies: somebody stops, refuses, shortens, or the connection hangs. */

const apiKey = 'none'
const claude = (baseURL: string, name = 'claude-opus-5-5') => createAnthropic({ baseURL, apiKey })(name)
const search = createAnthropic({ apiKey }).tools.webSearch_20250305({})

type Fields = Record<string, unknown>
const text = (words: string) =>
  [
    { type: 'text', text: '' },
    { type: 'text_delta', text: words },
  ] as const
const searches = [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }] as const
const found = [{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }] as const
const use = (id: string, name: string) =>
  [
    { type: 'tool_use', id, name, input: {} },
    { type: 'input_json_delta', partial_json: '{"n":1}' },
  ] as const
const thought = (signature: string) =>
  [
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'Hm.' },
    { type: 'signature_delta', signature },
  ] as const

let server: SseServer
afterEach(() => server?.close())

const bodies = (): Fields[] => server.requests.map(({ body }) => body)
/** The messages of a request in short: role, then the text or the type of each block. */
const sent = (at: number): string[] =>
  (Object(bodies()[at]).messages as { role: string; content: string | Fields[] }[]).map(({ role, content }) =>
    typeof content === 'string'
      ? `${role}: ${content}`
      : `${role}: ${content.map(({ type, text: said }) => said ?? type).join(', ')}`,
  )

describe('2 stops while a tool of the service is pending', () => {
  const paused = message('msg_1', [text('Let me look.'), searches], 'pause_turn')
  const tools = { web_search: search as never }

  const ask = (messages: QueryOptions['messages'], options: Partial<QueryOptions> = {}): Query => {
    const provided = [
      { type: 'provider' as const, id: 'anthropic.web_search_20250305' as const, name: 'web_search', args: {} },
    ]
    const model = aiSdkModel(checked(claude(server.url)), { tools: provided, toolChoice: { type: 'auto' } })
    return query({ messages, tools: [], model, ...options })
  }
  const readAll = async (run: Query): Promise<void> => {
    for await (const _ of run);
  }
  const goOn = ({ transcript }: Query) => readAll(ask([...transcript, { role: 'user', content: 'Go on.' }]))

  /** `streamText()` until it is stopped, and again with what it has kept. It fails if the service takes that. */
  async function isRefusedWithoutUs(second: (abort: () => void) => Answer, steps: number): Promise<void> {
    const stopped = new AbortController()
    const theirs = await sseServer(
      sends(paused),
      second(() => stopped.abort()),
      sends(lastMessage),
    )
    const kept: ModelMessage[] = []
    const common = { model: claude(theirs.url), tools, maxRetries: 0, onError: () => undefined }
    const first: ModelMessage[] = [{ role: 'user', content: 'Go.' }]
    const result = streamText({
      ...common,
      messages: first,
      abortSignal: stopped.signal,
      stopWhen: isStepCount(steps),
      onStepFinish: ({ response }) => void kept.push(...response.messages),
    })
    await result.consumeStream()
    await streamText({ ...common, messages: [...first, ...kept, { role: 'user', content: 'Go on.' }] }).consumeStream()
    await expect(theirs.close()).rejects.toThrow(/srvtoolu_1/)
  }

  it('abort: the next prompt is accepted; streamText() sends the pending call back and is refused', async () => {
    const stalls =
      (abort: () => void): Answer =>
      (response, request) => {
        stallsAfter('')(response, request)
        abort()
      }
    let run: Query | undefined
    server = await sseServer(
      sends(paused),
      stalls(() => run?.abort()),
      sends(lastMessage),
    )
    run = ask('Go.')
    await readAll(run)
    expect(run.result).toMatchObject({ reason: 'aborted_streaming' })
    await goOn(run)
    expect(sent(1)).toEqual(['user: Go.', 'assistant: Let me look., server_tool_use'])
    expect(sent(2)).toEqual(['user: Go.', 'assistant: Let me look.', 'user: [The user stopped this reply.], Go on.'])
    await isRefusedWithoutUs(stalls, 5)
  })

  it('maxTurns: the next prompt is accepted; streamText() sends the pending call back and is refused', async () => {
    server = await sseServer(sends(paused), sends(lastMessage))
    const run = ask('Go.', { maxTurns: 1 })
    await readAll(run)
    expect(run.result).toMatchObject({ reason: 'max_turns' })
    await goOn(run)
    expect(sent(1)).toEqual(['user: Go.', 'assistant: Let me look.', 'user: Go on.'])
    await isRefusedWithoutUs(() => sends(lastMessage), 1)
  })

  // streamText() has no interrupt
  it('interrupt(message): the message is sent at once, without the pending call', async () => {
    const open = paused.slice(0, paused.indexOf('event: message_delta'))
    server = await sseServer(stallsAfter(open), sends(lastMessage))
    const run = ask('Go.', { includeStreamEvents: true })
    for await (const each of run) {
      const isPending =
        each.type === 'stream_event' && each.event.type === 'content_block_stop' && each.event.index === 1
      if (isPending) run.interrupt('Stop that.')
    }
    expect(run.result).toMatchObject({ reason: 'completed' })
    expect(sent(1)).toEqual(['user: Go.', 'assistant: Let me look.', 'user: Stop that.'])
  })

  it('send: the message waits for the result, as a later prompt of streamText() does', async () => {
    const replies = [paused, message('msg_2', [found, text('Found.')], 'end_turn'), lastMessage]
    server = await sseServer(...replies.map(sends))
    const run = ask('Go.')
    let isSent = false
    for await (const each of run) {
      if (each.type === 'assistant' && !isSent) isSent = run.send('And this?')
    }
    expect(isSent).toBe(true)
    const theirs = await byStreamText({ provider: claude, providerTools: tools, replies, prompts: ['And this?'] })
    expect(bodies()).toEqual(theirs.requests)
  })
})

describe('after a refusal', () => {
  const stop_details = { type: 'refusal', category: 'cyber', explanation: 'No.' }
  const refusal = message('msg_1', [text('I would')], 'refusal').replace(
    '"stop_sequence":null},"usage"',
    `"stop_sequence":null,"stop_details":${JSON.stringify(stop_details)}},"usage"`,
  )
  const refused: Story = { provider: claude, replies: [refusal, lastMessage], prompts: ['Something else.'] }

  it('its text is not sent again, which streamText() does, and its details are reported', async () => {
    expect(refusal).toContain('stop_details')
    const { requests, reports } = await byQuery(refused)
    const theirs = await byStreamText(refused)
    expect(requests[0]).toEqual(theirs.requests[0])
    expect(JSON.stringify(theirs.requests[1])).toContain('I would')
    expect(requests[1]?.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Go.' },
          { type: 'text', text: 'Something else.' },
        ],
      },
    ])
    expect(reports.slice(0, 2)).toMatchObject([
      { subtype: 'model_reply', stopReason: 'refusal', stopDetails: stop_details },
      { subtype: 'model_refusal', stopDetails: stop_details, discarded: [expect.any(String)] },
    ])
  })

  // streamText() has no fallback model
  it('the fallback model gets the request that the first one refused', async () => {
    server = await sseServer(sends(refusal), sends(lastMessage))
    const [model, fallbackModel] = ['claude-opus-5-5', 'claude-sonnet-5-5'].map((name) =>
      aiSdkModel(checked(claude(server.url, name))),
    ) as [QueryOptions['model'], QueryOptions['model']]
    const run = query({ messages: 'Go.', tools: [], model, fallbackModel })
    const seen: QueryMessage[] = []
    for await (const each of run) seen.push(each)
    const [first, second] = bodies() as [Fields, Fields]
    expect([first.model, second.model]).toEqual(['claude-opus-5-5', 'claude-sonnet-5-5'])
    expect(second.messages).toEqual(first.messages)
    const retry = seen.find((each) => each.type === 'system' && each.subtype === 'model_retry')
    expect(retry).toMatchObject({ errorKind: 'refusal', isFallback: true, discarded: [expect.any(String)] })
    expect(JSON.stringify(run.transcript)).not.toContain('I would')
  })
})

describe('7 shortened results and thinking that is bound to them', () => {
  const long = 'line '.repeat(1_000)
  const replies = [
    ...['a', 'b', 'c'].map((id) => message(`msg_${id}`, [thought(`c2ln${id}`), use(id, 'Read')], 'tool_use')),
    message('msg_d', [thought('c2lnd'), text('So.')], 'end_turn'),
    message('msg_e', [thought('c2lne'), use('e', 'Read')], 'tool_use'),
    lastMessage,
  ]

  it('compactToolResults shortens results of earlier prompts, and the service accepts every request', async () => {
    server = await sseServer(...replies.map(sends))
    const model = aiSdkModel(checked(claude(server.url)))
    const call = async () => ({ data: long })
    const read = defineTool({ name: 'Read', inputSchema: z.looseObject({}), mayRepeat: true, call })
    const ask = async (messages: QueryOptions['messages']): Promise<Query> => {
      const prepareMessages: QueryOptions['prepareMessages'] = (all) => compactToolResults(all, { keepLast: 1 })
      const run = query({ messages, tools: [read], model, canUseTool: allowAllTools, prepareMessages })
      for await (const _ of run);
      return run
    }
    const { transcript } = await ask('Go.')
    const { result } = await ask([...transcript, { role: 'user', content: 'And?' }])
    expect(result).toMatchObject({ reason: 'completed' })
    const inFull = bodies().map((body) => JSON.stringify(body).split(long).length - 1)
    expect(inFull).toEqual([0, 1, 2, 3, 1, 2])
  })

  it('streamText() is refused if prepareStep shortens them in mid-turn', async () => {
    const theirs = await sseServer(...replies.map(sends))
    const brief = (each: ModelMessage): ModelMessage =>
      JSON.parse(JSON.stringify(each).replaceAll(long, '[Old result removed.]'))
    const result = streamText({
      model: claude(theirs.url),
      prompt: 'Go.',
      tools: { Read: tool({ inputSchema: z.looseObject({}), execute: async () => long }) },
      stopWhen: isStepCount(5),
      onError: () => undefined,
      prepareStep: ({ messages }) => ({ messages: [...messages.slice(0, -1).map(brief), ...messages.slice(-1)] }),
    })
    await result.consumeStream()
    await expect(theirs.close()).rejects.toThrow('bound to a different conversation')
  })
})

describe('8 a connection that stays open after a complete reply', () => {
  const compatible = (baseURL: string) => createOpenAICompatible({ name: 'other', baseURL, apiKey })('m')
  const atChat = (baseURL: string) => createOpenAI({ baseURL, apiKey }).chat('m')
  const atResponses = (baseURL: string) => createOpenAI({ baseURL, apiKey })('m')
  const chatReply = chat(
    'chat_1',
    [{ role: 'assistant', content: 'So.' }, chatCall('w', 'Write', '{"n":1}')],
    'tool_calls',
  )
  const claudeReply = message('msg_1', [text('So.'), use('w', 'Write')], 'tool_use')
  const inPieces = chat('chat_1', [chatCall('w', 'Write', '{"n"'), chatCall('w', 'Write', ':1}')], 'tool_calls')

  it.each<[name: string, provider: Story['provider'], reply: string, last: string, cut?: string]>([
    ['Anthropic', claude, claudeReply, lastMessage],
    [
      'Anthropic before its last event',
      claude,
      claudeReply,
      lastMessage,
      claudeReply.replace(/event: message_stop\n.*\n\n$/, ''),
    ],
    ['Chat', atChat, chatReply, lastChat],
    ['a service like Chat', compatible, chatReply, lastChat],
    ['Chat with arguments in pieces', compatible, inPieces, lastChat],
    ['Responses', atResponses, response('resp_1', [functionCall('w', 'Write', { n: 1 })]), lastResponse],
  ])('the reply counts: the requests are those of streamText() on a connection that closes (%s)', async (_, provider, reply, last, cut = reply) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const story: Story = { provider, tools: ['Write'], replies: [reply, last] }
    const clock = simulatedClock()
    let isOver = false
    const passTime = (): void => {
      vi.advanceTimersByTime(5_000)
      if (!isOver) setImmediate(passTime)
    }
    setImmediate(passTime)
    const hanging = await byQuery({ ...story, replies: [stallsAfter(cut), stallsAfter(last)] }, { executor: { clock } })
    isOver = true
    expect(hanging.ran).toEqual(['Write {"n":1}'])
    expect(hanging.result).toMatchObject({ reason: 'completed' })
    expect(hanging.reports.filter(({ subtype }) => subtype === 'model_retry')).toEqual([])
    const closing = await byStreamText(story)
    expect(hanging.requests).toEqual(closing.requests)
    expect(hanging.usage).toEqual(closing.usage)
  })
})

describe('cache marks', () => {
  it('on the system prompt and on messages are those of streamText()', async () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' } as const
    const providerOptions = { anthropic: { cacheControl: cache_control } }
    const theirs = await sseServer(sends(lastMessage))
    await streamText({
      model: claude(theirs.url),
      instructions: [
        { role: 'system', content: 'Be brief.', providerOptions },
        { role: 'system', content: 'Today is Monday.' },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'A long book.', providerOptions }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Read.', providerOptions }] },
        { role: 'user', content: 'Go.' },
      ],
    }).consumeStream()
    const expected = theirs.requests.map(({ body }) => body)
    await theirs.close()
    expect(JSON.stringify(expected).match(/"cache_control"/g)).toHaveLength(3)

    server = await sseServer(sends(lastMessage))
    const run = query({
      model: aiSdkModel(checked(claude(server.url))),
      tools: [],
      system: [
        { type: 'text', text: 'Be brief.', cache_control },
        { type: 'text', text: 'Today is Monday.' },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'A long book.', cache_control }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Read.', cache_control }] },
        { role: 'user', content: 'Go.' },
      ],
    })
    for await (const _ of run);
    expect(bodies()).toEqual(expected)
  })
})

describe('Chat, with the service’s own client', () => {
  const openaiChat = (baseURL: string) => createOpenAI({ baseURL, apiKey }).chat('m')
  const compatible = (baseURL: string) => createOpenAICompatible({ name: 'other', baseURL, apiKey }).chatModel('m')
  const own = () => openaiChatModel(new OpenAI({ baseURL: server.url, apiKey, maxRetries: 0 }), { model: 'm' })
  const conversation = (requests: readonly Fields[]): unknown[] => requests.map(({ messages }) => messages)

  // the providers of the AI SDK reject such a chunk; they get the same arguments as text
  it('arguments as an object run, and go back, as those that streamText() gets as text', async () => {
    const called = (args: unknown) => chat('chat_1', [chatCall('call_1', 'Read', args)], 'tool_calls')
    server = await sseServer(sends(called({ p: 1 })), sends(lastChat))
    const { ran, result } = await talk(own())
    expect(ran).toEqual(['Read {"p":1}'])
    expect(result).toMatchObject({ reason: 'completed' })
    const theirs = await byStreamText({ provider: openaiChat, tools: ['Read'], replies: [called('{"p":1}'), lastChat] })
    expect(conversation(bodies())).toEqual(conversation(theirs.requests))
  })

  /** The same provider, as if it passed arguments on as an object. */
  const asObjects = (baseURL: string): LanguageModelV4 => {
    const inner = openaiChat(baseURL)
    const doStream: LanguageModelV4['doStream'] = async (options) => {
      const { stream, ...rest } = await inner.doStream(options)
      const changed = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform(part, to) {
          if (part.type === 'tool-call') to.enqueue({ ...part, input: JSON.parse(part.input) })
          else if (!part.type.startsWith('tool-input')) to.enqueue(part)
        },
      })
      return { ...rest, stream: stream.pipeThrough(changed) }
    }
    return new Proxy(inner, {
      get: (target, key) => (key === 'doStream' ? doStream : Reflect.get(target, key, target)),
    })
  }

  it('aiSdkModel runs them too, from a provider that passes them on', async () => {
    const replies = [chat('chat_1', [chatCall('call_1', 'Read', '{"p":1}')], 'tool_calls'), lastChat]
    const told = await byQuery({ provider: asObjects, tools: ['Read'], replies })
    expect(told.ran).toEqual(['Read {"p":1}'])
    const theirs = await byStreamText({ provider: openaiChat, tools: ['Read'], replies })
    expect(told.requests).toEqual(theirs.requests)
  })

  it('usage after the finish reason is that of streamText()', async () => {
    const replies = [chat('chat_1', [chatCall('call_1', 'Read', '{}')], 'tool_calls'), lastChat]
    server = await sseServer(...replies.map(sends))
    const { messages } = await talk(own())
    const theirs = await byStreamText({ provider: openaiChat, tools: ['Read'], replies })
    const usage = messages.flatMap((each) => {
      if (each.type !== 'system' || each.subtype !== 'model_reply') return []
      const { input_tokens, cache_read_input_tokens, output_tokens } = each.usage as Record<string, number>
      return [[Number(input_tokens) + Number(cache_read_input_tokens), cache_read_input_tokens, output_tokens]]
    })
    expect(usage).toEqual(theirs.usage)
    expect(usage).toEqual([
      [20, 5, 9],
      [20, 5, 9],
    ])
  })

  it('4 the reasoning of an answer after calls goes back as with streamText()', async () => {
    const replies = [
      chat('chat_1', [{ reasoning_content: 'Look.' }, chatCall('call_1', 'Read', '{}')], 'tool_calls'),
      chat('chat_2', [{ reasoning_content: 'Sum up.' }, { content: 'So.' }], 'stop'),
      lastChat,
    ]
    server = await sseServer(...replies.map(sends))
    const { transcript } = await talk(own())
    await talk(own(), [...transcript, { role: 'user', content: 'And?' }])
    const theirs = await byStreamText({ provider: compatible, tools: ['Read'], replies, prompts: ['And?'] })
    expect(conversation(bodies())).toEqual(conversation(theirs.requests))
  })
})
