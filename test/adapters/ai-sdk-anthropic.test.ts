import { createAnthropic } from '@ai-sdk/anthropic'
import { afterEach, describe, expect, it } from 'vitest'
import { aiSdkModel } from '../../src/models/ai-sdk/index.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { checked } from '../support/services/checked.ts'
import { frame, frames, type SseServer, sends, sseServer } from './support/sse-server.ts'
import { talk } from './support/talk.ts'
import { lastMessage } from './support/wires.ts'

/** Anthropic's own ways, as its provider of the AI SDK puts them. */
let server: SseServer
afterEach(() => server.close())

const claude = () => aiSdkModel(checked(createAnthropic({ apiKey: 'none', baseURL: server.url })('claude-opus-5-5')))
const start = (id: string, rest: object = {}) => ({
  type: 'message_start',
  message: {
    id,
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'm',
    usage: { input_tokens: 1, output_tokens: 1 },
    ...rest,
  },
})
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const text = (index: number, words: string) =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text: words })
const thought = (index: number) =>
  block(
    index,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'Hm.' },
    { type: 'signature_delta', signature: 'c2ln' },
  )
const call = (index: number, id: string, name: string) =>
  block(index, { type: 'tool_use', id, name, input: {} }, { type: 'input_json_delta', partial_json: '{"n":1}' })
const stop = (stop_reason: string, rest: object = {}) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...rest }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const body = (at: number): string => JSON.stringify(server.requests[at]?.body)

describe('Anthropic through the AI SDK', () => {
  const handedOver = (index: number) =>
    block(index, { type: 'fallback', from: { model: 'a' }, to: { model: 'b' }, trigger: { type: 'refusal' } })

  it('L2 L8 what a declined model asked for does not run, and neither it nor its thoughts are sent back', async () => {
    const first = [
      start('msg_1'),
      ...thought(0),
      ...call(1, 'w', 'Write'),
      ...handedOver(2),
      ...text(3, 'I do.'),
      ...call(4, 'r', 'Read'),
      ...stop('tool_use'),
    ]
    server = await sseServer(sends(frames(first)), sends(lastMessage))
    const { ran, result } = await talk(claude())
    expect(ran).toEqual(['Read {"n":1}'])
    expect(result).toMatchObject({ reason: 'completed' })
    expect(body(1)).toContain('"fallback"')
    expect(body(1)).not.toMatch(/Hm\.|"id":"w"/)
  })

  it('L4 a reply that another model ends in words ends the query', async () => {
    const first = [start('msg_1'), ...call(0, 'w', 'Write'), ...handedOver(1), ...text(2, 'I do.'), ...stop('end_turn')]
    server = await sseServer(sends(frames(first)))
    const { ran, result } = await talk(claude())
    expect(ran).toEqual([])
    expect(result).toMatchObject({ reason: 'completed', stopReason: 'end_turn' })
  })

  it('L8 names the container of code that waits for its calls', async () => {
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
    const container = { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' }
    const code = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'x' } }
    const use = { type: 'tool_use', id: 'a', name: 'Read', input: { n: 1 }, caller }
    const ran = {
      type: 'code_execution_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: { type: 'code_execution_result', stdout: '', stderr: '', return_code: 0, content: [] },
    }
    server = await sseServer(
      sends(frames([start('msg_1'), ...block(0, code), ...block(1, use), ...stop('tool_use', { container })])),
      sends(frames([start('msg_2'), ...block(0, ran), ...text(1, 'So.'), ...stop('end_turn', { container })])),
    )
    const { result } = await talk(claude())
    expect(result).toMatchObject({ reason: 'completed' })
    expect(server.requests.map(({ body: sent }) => sent.container)).toEqual([undefined, 'container_1'])
  })

  it('L7 hands on why it refused', async () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'No.' }
    server = await sseServer(sends(frames([start('msg_1'), ...text(0, 'I'), ...stop('refusal', { stop_details })])))
    const { result, transcript } = await talk(claude())
    expect(result).toMatchObject({ reason: 'completed', stopReason: 'refusal', stopDetails: stop_details })
    expect(transcript).toHaveLength(1)
  })

  it('L8 a reply without a word leaves nothing that would be refused', async () => {
    server = await sseServer(sends(frames([start('msg_1'), ...stop('end_turn')])), sends(lastMessage))
    const { transcript, result } = await talk(claude())
    expect(result).toMatchObject({ reason: 'completed', stopReason: 'end_turn' })
    await talk(claude(), [...transcript, { role: 'user', content: 'And?' }])
    expect(server.requests).toHaveLength(2)
  })

  it('L5 pings keep a long thought alive', async () => {
    const clock = simulatedClock()
    const [open, ...rest] = thought(0) as [unknown, ...unknown[]]
    let heard = (): void => undefined
    server = await sseServer(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of [start('msg_1'), open, ...Array.from({ length: 8 }, () => ({ type: 'ping' }))]) {
        const isHeard = new Promise<void>((resolve) => {
          heard = resolve
        })
        response.write(frame(event))
        await isHeard
      }
      response.end(frames([...rest, ...text(1, 'So.'), ...stop('end_turn')]))
    })
    const model: ReturnType<typeof claude> = async function* (request) {
      for await (const event of await claude()(request)) {
        clock.increment(900)
        heard()
        yield event
      }
    }
    const { result } = await talk(model, 'Go.', { streamIdleMs: 1_000, retry: { attempts: 0 }, executor: { clock } })
    expect(result).toMatchObject({ reason: 'completed' })
  })
})
