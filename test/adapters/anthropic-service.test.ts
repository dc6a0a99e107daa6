import Anthropic from '@anthropic-ai/sdk'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  allowAllTools,
  createUserMessage,
  defineTool,
  type Query,
  type QueryMessage,
  type QueryOptions,
  query,
  toApiMessages,
} from '../../src/index.ts'
import { anthropicModel } from '../../src/models/anthropic/index.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { heldTool } from '../support/held-tool.ts'
import { apiInShort } from '../support/query.ts'
import {
  type Answer,
  breaksAfter,
  frame,
  frames,
  type SseServer,
  sends,
  sseServer,
  stallsAfter,
} from './support/sse-server.ts'

/** The service with its own client; every request is validated. */
let server: SseServer
afterEach(() => server.close())

type Block = { type: string; [key: string]: unknown }

const start = (id = 'msg_1', rest: object = {}) => ({
  type: 'message_start',
  message: { id, type: 'message', role: 'assistant', content: [], model: 'm', stop_reason: null, usage: {}, ...rest },
})
const block = (index: number, content_block: Block, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const text = (index: number, said: string) =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text: said })
const call = (index: number, id: string, name: string, json = '{"n":1}') =>
  block(index, { type: 'tool_use', id, name, input: {} }, { type: 'input_json_delta', partial_json: json })
const thought = (index: number, signature = 'c2ln') =>
  block(
    index,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'Hm.' },
    ...(signature === '' ? [] : [{ type: 'signature_delta', signature }]),
  )
const stop = (stop_reason: string, rest: object = {}) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...rest }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]
const search = (index: number) =>
  block(index, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} })
const found = (index: number) =>
  block(index, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] })
const done = sends(frames([start('msg_last'), ...text(0, 'Done.'), ...stop('end_turn')]))
const replies = (...events: readonly unknown[]): Answer => sends(frames(events))

/** With these the service hands a reply over to another model, and reads the blocks that say so. */
const fallbacks = { fallbacks: 'default' as const, betas: ['server-side-fallback-2026-07-01'] }

interface Asked {
  readonly run: Query
  readonly seen: QueryMessage[]
  readonly write: ReturnType<typeof tools>['write']
  readonly started: string[]
}

/** Bodies that end at once and record their inputs. */
function tools() {
  const started: string[] = []
  const instant = (name: string, rest: object) => ({
    ...heldTool(name, rest).tool,
    call: async (_input: unknown, context: { toolUseID: string }) => {
      started.push(context.toolUseID)
      return { data: `${context.toolUseID} done` }
    },
  })
  const read = instant('Read', { safe: true, isReadOnly: () => true })
  const write = instant('Write', {})
  return { read, write, started, all: [read, write] as never }
}

async function ask(options: Partial<QueryOptions>, ...answers: Answer[]): Promise<Asked> {
  server = await sseServer(...answers)
  const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0, logLevel: 'off' })
  const model = anthropicModel(client.beta, { model: 'claude-opus-5-5', max_tokens: 64, ...fallbacks })
  const { all, write, started } = tools()
  const run = query({
    messages: 'go',
    tools: all,
    model,
    canUseTool: allowAllTools,
    retry: { backoffMs: 0 },
    ...options,
  })
  return { run, seen: [], write, started }
}

async function readAll({ run, seen }: Asked): Promise<void> {
  for await (const message of run) seen.push(message)
}

/** The next prompt of the same conversation. */
async function goOn({ transcript }: Query): Promise<void> {
  const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0, logLevel: 'off' })
  const model = anthropicModel(client, { model: 'm', max_tokens: 9 })
  for await (const _ of query({ messages: [...transcript, { role: 'user', content: 'go on' }], tools: [], model }));
}

const sentBody = (at: number): Record<string, unknown> => server.requests[at]?.body ?? {}
const sent = (at: number): string[] => apiInShort(sentBody(at).messages as never)

describe('a fallback block in mid-output', () => {
  const handedOver = block(2, {
    type: 'fallback',
    from: { model: 'a' },
    to: { model: 'b' },
    trigger: { type: 'refusal' },
  })

  it('L2 L8 the calls of the declined model do not run, and neither they nor its thinking are sent back', async () => {
    const asked = await ask(
      {},
      replies(
        start(),
        ...thought(0),
        ...call(1, 'w', 'Write'),
        ...handedOver,
        ...text(3, 'I do.'),
        ...call(4, 'r', 'Read'),
        ...stop('tool_use'),
      ),
      done,
    )
    await readAll(asked)
    expect(asked.started).toEqual(['r'])
    expect(sent(1)).toEqual([
      'user: go',
      'assistant: fallback',
      'assistant: I do.',
      'assistant: call r Read {"n":1}',
      'user: result r r done',
    ])
    expect(asked.run.result).toMatchObject({ reason: 'completed' })
  })

  it('L8 a call of the service that the declined model left without a result is dropped too', async () => {
    const asked = await ask(
      {},
      replies(
        start(),
        ...text(0, 'Let me look.'),
        ...search(1),
        ...handedOver,
        ...call(3, 'r', 'Read'),
        ...stop('tool_use'),
      ),
      done,
    )
    await readAll(asked)
    expect(sent(1)).toEqual([
      'user: go',
      'assistant: Let me look.',
      'assistant: fallback',
      'assistant: call r Read {"n":1}',
      'user: result r r done',
    ])
    await goOn(asked.run)
    expect(sent(2).at(-1)).toBe('user: go on')
  })

  it('L8 the block does not go to a model without fallbacks, which would refuse it', async () => {
    const asked = await ask({}, replies(start(), ...handedOver, ...text(3, 'I do.'), ...stop('end_turn')), done)
    await readAll(asked)
    await goOn(asked.run)
    expect(sent(1)).toEqual(['user: go', 'assistant: I do.', 'user: go on'])
  })

  it('L5 a read-only call that had run is dropped with its result', async () => {
    const events = [start(), ...text(0, 'Let me see.'), ...call(1, 'r', 'Read')]
    const asked = await ask({}, replies(...events, ...handedOver, ...text(3, 'I do.'), ...stop('end_turn')))
    await readAll(asked)
    expect(asked.run.transcript.map((message) => JSON.stringify(message)).join()).not.toContain('"r"')
    expect(apiInShort(toApiMessages(asked.run.transcript))).toEqual([
      'user: go',
      'assistant: Let me see.',
      'assistant: fallback',
      'assistant: I do.',
    ])
  })

  it('L5 after effects the reply counts as far as it came, and the model is asked again', async () => {
    const events = [
      start(),
      ...call(0, 'w', 'Write'),
      ...text(1, 'and'),
      ...handedOver,
      ...text(3, 'not heard'),
      ...stop('end_turn'),
    ]
    const asked = await ask({}, replies(...events), done)
    await readAll(asked)
    expect(sent(1)).toEqual(['user: go', 'assistant: call w Write {"n":1}', 'assistant: and', 'user: result w w done'])
  })
})

describe('server tools', () => {
  const paused = replies(start(), ...text(0, 'Let me look.'), ...search(1), ...stop('pause_turn'))

  it('L4 a paused turn continues, and messages sent meanwhile wait for it', async () => {
    const asked = await ask(
      {},
      paused,
      replies(start('msg_2'), ...found(0), ...text(1, 'Found.'), ...stop('end_turn')),
      done,
    )
    asked.run.on('warning', () => undefined)
    let isSent = false
    for await (const message of asked.run) {
      if (!isSent && message.type === 'assistant') {
        isSent = true
        asked.run.send('and also this')
      }
    }
    expect(sent(1)).toEqual(['user: go', 'assistant: Let me look.', 'assistant: server_tool_use'])
    expect(sent(2).slice(-2)).toEqual(['assistant: Found.', 'user: and also this'])
  })

  it('L6 L8 a turn that is stopped there can be continued', async () => {
    const first = await ask({ maxTurns: 1 }, paused, done)
    await readAll(first)
    expect(first.run.result).toMatchObject({ reason: 'max_turns' })
    await goOn(first.run)
    expect(sent(1)).toEqual(['user: go', 'assistant: Let me look.', 'user: go on'])
  })

  it('L6 L8 a turn that is aborted while the service continues it can be continued later', async () => {
    let asked: Asked | undefined
    const isAskedToGoOn: Answer = (response, request) => {
      stallsAfter(frames([start('msg_2')]))(response, request)
      asked?.run.abort()
    }
    asked = await ask({}, paused, isAskedToGoOn, done)
    await readAll(asked)
    expect(asked.run.result).toMatchObject({ reason: 'aborted_streaming' })
    expect(sent(1)).toEqual(['user: go', 'assistant: Let me look.', 'assistant: server_tool_use'])
    await goOn(asked.run)
    expect(sent(2)).toEqual([
      'user: go',
      'assistant: Let me look.',
      'user: [The user stopped this reply.]',
      'user: go on',
    ])
  })

  it('L6 L8 an interrupt with a message does not wait for the service', async () => {
    const asked = await ask({}, stallsAfter(frames([start(), ...text(0, 'Let me look.'), ...search(1)])), done)
    let blocks = 0
    for await (const message of asked.run)
      if (message.type === 'assistant' && ++blocks === 2) asked.run.interrupt('stop that')
    expect(sent(1)).toEqual(['user: go', 'assistant: Let me look.', 'user: stop that'])
  })

  it('L8 only results are sent while code of the service waits; calls arrive complete, and the container is named', async () => {
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
    const whole = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: { n: 1 }, caller })
    const code = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'x' } }
    const container = { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' }
    const note = {
      PostToolUse: [
        { hooks: [async () => ({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'note' } })] },
      ],
    }
    const asked = await ask(
      { context: { hooks: note } as never },
      replies(start(), ...block(0, code), ...block(1, whole('a')), ...stop('tool_use', { container })),
      replies(start('msg_2', { content: [whole('b'), whole('c')], container }), ...stop('tool_use', { container })),
      replies(
        start('msg_3'),
        ...block(0, { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: {} }),
        ...text(1, 'So.'),
        ...stop('end_turn'),
      ),
    )
    await readAll(asked)
    expect(asked.started).toEqual(['a', 'b', 'c'])
    expect(sentBody(0)).not.toHaveProperty('container')
    expect([sentBody(1).container, sentBody(2).container]).toEqual(['container_1', 'container_1'])
    expect(sent(2).slice(-4)).toEqual([
      'assistant: call b Read {"n":1}',
      'assistant: call c Read {"n":1}',
      'user: result b b done',
      'user: result c c done',
    ])
    expect(asked.run.result).toMatchObject({ reason: 'completed' })
  })

  it('L8 a container that has expired is not named again', async () => {
    const container = { id: 'container_1', expires_at: '2020-01-01T00:00:00Z' }
    const asked = await ask({}, replies(start(), ...text(0, 'So.'), ...stop('end_turn', { container })), done)
    await readAll(asked)
    await goOn(asked.run)
    expect(sentBody(1)).not.toHaveProperty('container')
  })

  it('L8 newMessages of a tool wait until the code of the service has its result', async () => {
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
    const code = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'x' } }
    const container = { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' }
    const use = (id: string) => ({ type: 'tool_use', id, name: 'Note', input: { n: 1 }, caller })
    const note = defineTool({
      name: 'Note',
      inputSchema: z.looseObject({}),
      call: async (_, { toolUseID }) => ({
        data: 'noted',
        newMessages: [createUserMessage(`a word on ${toolUseID}`)],
      }),
    })
    const asked = await ask(
      { tools: [note] },
      replies(start(), ...block(0, code), ...block(1, use('a')), ...stop('tool_use', { container })),
      replies(
        start('msg_2'),
        ...block(0, { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: {} }),
        ...call(1, 'b', 'Note'),
        ...stop('tool_use', { container }),
      ),
      done,
    )
    await readAll(asked)
    expect(asked.run.result).toMatchObject({ reason: 'completed' })
    expect(sent(1).slice(-2)).toEqual(['assistant: call a Note {"n":1}', 'user: result a noted'])
    expect(sent(2).slice(-3)).toEqual(['user: result b noted', 'user: a word on a', 'user: a word on b'])
    await goOn(asked.run)
    expect(sent(3).slice(0, -2)).toEqual(sent(2))
  })
})

describe('unusual streams', () => {
  it('L8 an invented name is sent back as a valid name', async () => {
    const asked = await ask({}, replies(start(), ...call(0, 'a', 'functions.Read'), ...stop('tool_use')), done)
    await readAll(asked)
    expect(sent(1).slice(1)).toEqual(['assistant: call a functions_Read {"n":1}', 'user: result a error'])
  })

  it('L2 a block with a reused index is a new block', async () => {
    const asked = await ask(
      {},
      replies(start(), ...call(0, 'a', 'Read'), ...call(0, 'b', 'Read'), ...text(0, 'and'), ...stop('tool_use')),
      done,
    )
    await readAll(asked)
    expect(asked.started).toEqual(['a', 'b'])
    expect(sent(1)).toContain('assistant: and')
  })

  it.each([
    'max_tokens',
    'tool_use',
  ])('L2 a call without arguments runs only if the reply continued: %s', async (reason) => {
    const bare = block(0, { type: 'tool_use', id: 'a', name: 'Read', input: {} })
    const asked = await ask({}, replies(start(), ...bare, ...stop(reason)), done)
    await readAll(asked)
    expect(asked.started).toEqual(reason === 'tool_use' ? ['a'] : [])
  })

  it('L4 a tool input that is repeatedly cut off does not loop for ever', async () => {
    const cut = (id: string) => replies(start(id), ...call(0, `c_${id}`, 'Write', '{"text":"lo'), ...stop('max_tokens'))
    const asked = await ask({}, cut('m1'), cut('m2'), cut('m3'), cut('m4'), cut('m5'))
    await readAll(asked)
    expect(server.requests).toHaveLength(3)
    expect(asked.run.result).toMatchObject({ reason: 'completed', stopReason: 'max_tokens' })
    expect(JSON.stringify(sentBody(1).messages)).toContain('shorter')
  })

  it('L3 one reply is reported once, however often its end is repeated', async () => {
    const [delta, end] = stop('end_turn')
    const asked = await ask(
      {},
      replies(start(), ...text(0, 'Hi'), delta, { ...delta, usage: { output_tokens: 7 } }, end),
    )
    await readAll(asked)
    const reported = asked.seen.filter((message) => message.type === 'system')
    expect(reported).toMatchObject([{ subtype: 'model_reply', usage: { output_tokens: 7 } }])
  })

  it('L8 unsigned thinking is returned to a service that signs none', async () => {
    const asked = await ask({}, replies(start(), ...thought(0, ''), ...call(1, 'a', 'Read'), ...stop('tool_use')), done)
    await readAll(asked)
    const said = (sentBody(1).messages as { content: unknown[] }[])[1]?.content[0]
    expect(said).toEqual({ type: 'thinking', thinking: 'Hm.', signature: '' })
  })

  it('L5 pings prevent a timeout during long thinking', async () => {
    const clock = simulatedClock()
    const [open, ...rest] = thought(0) as [unknown, ...unknown[]]
    let heard = (): void => undefined
    const options = { streamIdleMs: 1_000, retry: { attempts: 0 }, includeStreamEvents: true, executor: { clock } }
    const asked = await ask(options, async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      // each in its own packet: the client handles one after the other
      for (const event of [start(), open, ...Array.from({ length: 8 }, () => ({ type: 'ping' }))]) {
        const isHeard = new Promise<void>((resolve) => {
          heard = resolve
        })
        response.write(frame(event))
        await isHeard
      }
      response.end(frames([...rest, ...text(1, 'So.'), ...stop('end_turn')]))
    })
    for await (const message of asked.run) {
      if (message.type !== 'stream_event') continue
      clock.increment(900)
      heard()
    }
    expect(asked.run.result).toMatchObject({ reason: 'completed' })
  })
})

describe('a connection that fails', () => {
  it.each([
    ['hangs', stallsAfter],
    ['breaks', breaksAfter],
  ])('L5 after the stop reason it %s: a reply with a stop reason is complete', async (_, how) => {
    const events = [start(), ...call(0, 'w', 'Write'), ...stop('tool_use').slice(0, 1)]
    const clock = simulatedClock()
    const asked = await ask({ includeStreamEvents: true, executor: { clock } }, how(frames(events)), done)
    for await (const message of asked.run) {
      asked.seen.push(message)
      const isStopped = message.type === 'stream_event' && message.event.type === 'message_delta'
      // the stream is awaited again
      if (isStopped) setImmediate(() => clock.increment(5_000))
    }
    expect(asked.started).toEqual(['w'])
    expect(asked.seen.some((message) => message.type === 'system' && message.subtype === 'model_retry')).toBe(false)
    expect(sent(1).at(-1)).toBe('user: result w w done')
  })

  it('L5 after effects the model gets the results, so that it does not repeat the calls', async () => {
    const events = [start(), ...call(0, 'w', 'Write'), ...text(1, 'and then'), ...call(2, 'x', 'Write')]
    const asked = await ask({}, breaksAfter(frames(events)), done)
    await readAll(asked)
    expect(asked.started).toEqual(['w'])
    expect(sent(1)).toEqual([
      'user: go',
      'assistant: call w Write {"n":1}',
      'assistant: and then',
      'assistant: call x Write {"n":1}',
      'user: result w w done',
      'user: result x error',
    ])
    const retry = asked.seen.find((message) => message.type === 'system' && message.subtype === 'model_retry')
    expect(retry).toMatchObject({
      discarded: [],
      calls: [
        { id: 'w', started: true },
        { id: 'x', started: false },
      ],
    })
    expect(JSON.stringify(retry)).not.toMatch(/ at .*:\d+:\d+/)
  })

  it('L5 x-should-retry: false is respected', async () => {
    const asked = await ask({}, (response) => {
      const body = { type: 'error', error: { type: 'api_error', message: 'No' } }
      response
        .writeHead(500, { 'x-should-retry': 'false', 'content-type': 'application/json' })
        .end(JSON.stringify(body))
    })
    await readAll(asked)
    expect([server.requests.length, asked.run.result?.reason]).toEqual([1, 'model_error'])
  })
})

describe('a refusal', () => {
  const details = { type: 'refusal', category: 'cyber', explanation: 'No.' }
  const refused = replies(start(), ...text(0, 'I would'), ...stop('refusal', { stop_details: details }))

  it('L7 removes its reply, and its details reach the host', async () => {
    const asked = await ask({}, refused)
    await readAll(asked)
    expect(asked.run.result).toMatchObject({ reason: 'completed', stopReason: 'refusal', stopDetails: details })
    expect(asked.run.transcript).toHaveLength(1)
    const told = asked.seen.filter((message) => message.type === 'system')
    expect(told).toMatchObject([
      { subtype: 'model_reply', stopReason: 'refusal', stopDetails: details },
      { subtype: 'model_refusal', stopDetails: details, discarded: [expect.any(String)] },
    ])
  })

  it('L5 the fallback model is asked if there is one', async () => {
    const asked = await ask({}, refused, done)
    const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0, logLevel: 'off' })
    const model = anthropicModel(client, { model: 'first', max_tokens: 9 })
    const fallbackModel = anthropicModel(client, { model: 'second', max_tokens: 9 })
    const run = query({ messages: 'go', tools: [], model, fallbackModel })
    const seen: QueryMessage[] = []
    for await (const message of run) seen.push(message)
    expect(server.requests.map(({ body }) => body.model)).toEqual(['first', 'second'])
    expect(sent(1)).toEqual(['user: go'])
    expect(seen.find((message) => message.type === 'system' && message.subtype === 'model_retry')).toMatchObject({
      errorKind: 'refusal',
      isFallback: true,
    })
    expect(run.result).toMatchObject({ reason: 'completed', stopReason: 'end_turn' })
    void asked
  })
})
