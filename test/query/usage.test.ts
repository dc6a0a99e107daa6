import { memoryJournals, openSession } from 'signalbox/durable'
import { type ScriptTurn, scriptedModel } from 'signalbox/scripted'
import { subAgent } from 'signalbox/sub-agent'
import { describe, expect, it } from 'vitest'
import { SimulatedClock } from 'xstate'
import { z } from 'zod'
import type { BackgroundCalls } from '../../src/background/background-calls.ts'
import { type AnyTool, allowAllTools, createSession, defineTool, query } from '../../src/index.ts'

const usage = (input: number, output: number, more: object = {}) => ({
  input_tokens: input,
  output_tokens: output,
  ...more,
})
const calls = (input: number, output: number, ...names: readonly string[]): ScriptTurn => [
  ...names.map((call) => ({ call, input: { prompt: 'go' } })),
  { stop: 'tool_use', usage: usage(input, output) },
]
const says = (input: number, output: number, more?: object): ScriptTurn => [
  'Done.',
  { stop: 'end_turn', usage: usage(input, output, more) },
]

const waiting = (clock: SimulatedClock, ms: number): AnyTool =>
  defineTool({
    name: 'Wait',
    inputSchema: z.object({}),
    async call() {
      clock.increment(ms)
      return { data: 'waited' }
    },
  }) as AnyTool

const read = defineTool({
  name: 'Read',
  inputSchema: z.object({}),
  isReadOnly: () => true,
  call: async () => ({ data: 'text' }),
}) as AnyTool

async function end<Value>(run: AsyncGenerator<unknown, Value>): Promise<Value> {
  for (;;) {
    const step = await run.next()
    if (step.done === true) return step.value
  }
}

describe('usage', () => {
  it('U3 totals tokens, requests, turns, calls, times and cost, in the run and in its result', async () => {
    const clock = new SimulatedClock()
    const model = scriptedModel(
      [
        calls(100, 10, 'Wait', 'Wait'),
        says(200, 20, {
          cache_read_input_tokens: 1_000,
          cache_creation_input_tokens: 500,
          output_tokens_details: { thinking_tokens: 7 },
        }),
      ],
      { clock },
    )
    const run = query({
      messages: 'go',
      tools: [waiting(clock, 40)],
      model,
      canUseTool: allowAllTools,
      prices: { scripted: { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 2 } },
      executor: { clock },
    })
    const result = await end(run)
    expect(result.usage).toEqual(run.usage)
    expect(run.usage).toEqual({
      models: {
        scripted: {
          requests: 2,
          retries: 0,
          inputTokens: 300,
          outputTokens: 30,
          cacheReadTokens: 1_000,
          cacheWriteTokens: 500,
          reasoningTokens: 7,
          costUsd: expect.closeTo((300 + 30 * 10 + 1_000 * 0.1 + 500 * 2) / 1_000_000, 12),
        },
      },
      costUsd: expect.closeTo(0.0017, 12),
      turns: 2,
      retries: 0,
      calls: 2,
      agents: 0,
      modelMs: expect.any(Number),
      toolMs: 80,
    })
  })

  it('U3 counts a failed request as a request and a retry, with the tokens that it reported', async () => {
    const clock = new SimulatedClock()
    const begun = { id: 'm', model: 'scripted', usage: usage(50, 1) }
    const model = scriptedModel([
      [
        { event: { type: 'message_start', message: begun } },
        { error: Object.assign(new Error('overloaded'), { status: 529 }) },
      ],
      says(60, 5),
    ])
    const run = query({ messages: 'go', tools: [], model, executor: { clock }, retry: { backoffMs: 0 } })
    const ending = end(run)
    for (let n = 0; n < 50 && run.result === undefined; n++) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.increment(1)
    }
    await ending
    expect(run.usage).toMatchObject({ turns: 1, retries: 1 })
    expect(run.usage.models.scripted).toMatchObject({ requests: 2, retries: 1, inputTokens: 110, outputTokens: 6 })
  })

  it('U3 a run without a price has no cost; a model without one takes it from the total', async () => {
    const prices = { other: { input: 1, output: 1 } }
    const run = query({ messages: 'go', tools: [], model: scriptedModel([says(1, 1)]), prices })
    expect(await end(run)).not.toHaveProperty('usage.costUsd')
    expect(run.usage.models.scripted).not.toHaveProperty('costUsd')
  })

  it('U3 a price is found by the name that the model is asked for, if the reply has another', async () => {
    const model = Object.assign(scriptedModel([says(1_000_000, 0)]), { info: { name: 'asked' } })
    const run = query({ messages: 'go', tools: [], model, prices: { asked: { input: 3, output: 1 } } })
    await end(run)
    expect(run.usage.costUsd).toBe(3)
  })

  it.each([
    ['negative', { input_tokens: -5, output_tokens: -1 }],
    ['not a number', { input_tokens: Number.NaN, output_tokens: '7' }],
    ['infinite', { input_tokens: Number.POSITIVE_INFINITY, output_tokens: null }],
    ['absent', undefined],
    ['a text', 'many'],
  ])('U3 usage that is %s counts as none', async (_, given) => {
    const model = scriptedModel([['Done.', { stop: 'end_turn', usage: given }]])
    const run = query({ messages: 'go', tools: [], model })
    await end(run)
    expect(run.usage.models.scripted).toMatchObject({ requests: 1, inputTokens: 0, outputTokens: 0 })
  })

  it('U3 a field without a value takes nothing away from what was reported before', async () => {
    const begin = { type: 'message_start' as const, message: { id: 'm', model: 'm', usage: usage(30, 1) } }
    const stop = {
      type: 'message_delta' as const,
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: null, cache_read_input_tokens: undefined, output_tokens: 7 },
    }
    const model = scriptedModel([[{ event: begin }, 'Done.', { event: stop }, { cut: true }]])
    const run = query({ messages: 'go', tools: [], model })
    await end(run)
    expect(run.usage.models.m).toMatchObject({ inputTokens: 30, outputTokens: 7 })
  })

  it('U3 usage that a service sends twice is one usage', async () => {
    const twice = { type: 'message_delta' as const, delta: { stop_reason: 'end_turn' }, usage: usage(30, 3) }
    const model = scriptedModel([['Done.', { event: twice }, { event: twice }, { cut: true }]])
    const run = query({ messages: 'go', tools: [], model })
    await end(run)
    expect(run.usage.models.scripted).toMatchObject({ requests: 1, inputTokens: 30, outputTokens: 3 })
  })

  it('U3 agents at any depth count for every run around them', async () => {
    const deep = subAgent({ name: 'Deep', tools: [read], model: scriptedModel([calls(8, 1, 'Read'), says(16, 1)]) })
    const inner: number[] = []
    const watched = subAgent({
      name: 'Agent',
      tools: [deep as AnyTool],
      model: scriptedModel([calls(2, 1, 'Deep'), says(4, 1)]),
      onQuery: (each) => () => inner.push(each.usage.models.scripted?.inputTokens ?? 0),
    })
    const session = createSession({
      tools: [watched as AnyTool],
      model: scriptedModel([calls(1, 1, 'Agent'), says(32, 1), says(64, 1)]),
      canUseTool: allowAllTools,
    })
    for await (const _ of session.send('go')) void _
    expect(session.result?.usage).toMatchObject({ calls: 3, agents: 2, turns: 6 })
    expect(session.result?.usage.models.scripted).toMatchObject({ requests: 6, inputTokens: 63 })
    expect(inner).toEqual([30])
    for await (const _ of session.send('more')) void _
    expect(session.result?.usage.models.scripted).toMatchObject({ inputTokens: 64 })
    expect(session.usage.models.scripted).toMatchObject({ requests: 7, inputTokens: 127 })
  })

  it('U3 an agent in the background counts, although its run has ended', async () => {
    const agent = subAgent({ tools: [read], model: scriptedModel([calls(2, 1, 'Read'), says(4, 1)]) })
    const session = createSession({
      tools: [{ ...agent, background: { afterMs: 0, awaited: false } } as AnyTool],
      model: scriptedModel([calls(1, 1, 'Agent'), says(8, 1)]),
      canUseTool: allowAllTools,
    })
    for await (const _ of session.send('go')) void _
    await (session.background as BackgroundCalls).whenIdle()
    expect(session.usage.models.scripted).toMatchObject({ requests: 4, inputTokens: 15 })
    expect(session.usage).toMatchObject({ agents: 1, calls: 2 })
    await session.close()
  })

  it('U3 a journal keeps the usage of a session and its agents', async () => {
    const journals = memoryJournals()
    const agent = () => subAgent({ tools: [read], model: scriptedModel([calls(2, 1, 'Read'), says(4, 1)]) }) as AnyTool
    const prices = { scripted: { input: 1, output: 0 } }
    const options = { id: 's', journals, canUseTool: allowAllTools, prices }
    const first = await openSession({
      ...options,
      tools: [agent()],
      model: scriptedModel([calls(1, 1, 'Agent'), says(8, 1)]),
    })
    for await (const _ of first.send('go')) void _
    const before = first.usage
    expect(before).toMatchObject({ calls: 2, agents: 1, turns: 4, costUsd: expect.closeTo(15 / 1_000_000, 12) })
    await first.close()
    const second = await openSession({ ...options, tools: [agent()], model: scriptedModel([says(16, 1)]) })
    expect(second.usage).toEqual(before)
    for await (const _ of second.send('more')) void _
    expect(second.usage.models.scripted).toMatchObject({ requests: 5, inputTokens: 31 })
    expect(second.result?.usage.models.scripted).toMatchObject({ requests: 1, inputTokens: 16 })
    await second.close()
  })

  it('U3 a run that is suspended in the middle of a turn counts its calls once', async () => {
    const journals = memoryJournals()
    const ask = { canUseTool: () => ({ behavior: 'later' as const }) }
    const pay = defineTool({ name: 'Pay', inputSchema: z.object({}), call: async () => ({ data: 'paid' }) }) as AnyTool
    const agent = () => subAgent({ tools: [pay, read], model: scriptedModel([calls(2, 1, 'Read', 'Pay'), says(4, 1)]) })
    const context = { permissions: { allow: ['Agent', 'Read'] } }
    const rest = subAgent({ tools: [pay, read], model: scriptedModel([says(4, 1)]) })
    const options = { id: 's', journals, ...ask, context }
    const first = await openSession({
      ...options,
      tools: [agent() as AnyTool],
      model: scriptedModel([calls(1, 1, 'Agent'), says(8, 1)]),
    })
    for await (const _ of first.send('go')) void _
    expect(first.status).toBe('suspended')
    expect(first.usage).toMatchObject({ agents: 1, turns: 2 })
    await first.close()
    const second = await openSession({ ...options, tools: [rest as AnyTool], model: scriptedModel([says(8, 1)]) })
    const [question] = second.questions()
    expect(await second.answer(question?.id ?? '', { behavior: 'allow' })).toBe('accepted')
    for await (const _ of second.resume()) void _
    await second.whenIdle()
    expect(second.result?.reason).toBe('completed')
    expect(second.usage).toMatchObject({ calls: 3, agents: 1, turns: 4 })
    expect(second.usage.models.scripted).toMatchObject({ requests: 4, inputTokens: 15 })
    await second.close()
  })

  it('U3 with prices, the cost is 0 before the first request, in a fork too; without prices there is none', async () => {
    const given = { tools: [], model: scriptedModel([says(8, 1), says(8, 1)]) }
    const session = createSession({ ...given, prices: { scripted: { input: 5, output: 25 } } })
    expect(session.usage.costUsd).toBe(0)
    for await (const _ of session.send('go')) void _
    const fork = await session.fork()
    expect(fork.usage.costUsd).toBe(0)
    expect(createSession(given).usage).not.toHaveProperty('costUsd')
    await Promise.all([session.close(), fork.close()])
  })
})
