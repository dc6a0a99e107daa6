import { memoryJournals, openSession } from 'signalbox/durable'
import { type ScriptItem, type ScriptTurn, scriptedModel } from 'signalbox/scripted'
import { subAgent } from 'signalbox/sub-agent'
import { describe, expect, it } from 'vitest'
import { SimulatedClock } from 'xstate'
import { z } from 'zod'
import {
  type AnyTool,
  allowAllTools,
  createSession,
  defineTool,
  type Limits,
  type LimitWarningMessage,
  type Model,
  type QueryMessage,
  type QueryOptions,
  query,
} from '../../src/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { Account } from '../../src/usage/account.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush } from '../support/turn.ts'

const usage = (input: number, output: number) => ({ input_tokens: input, output_tokens: output })
const calls = (output: number, ...names: readonly string[]): ScriptItem[] => [
  ...names.map((call, n) => ({ call, input: { prompt: 'go', n: Math.random() + n } })),
  { stop: 'tool_use', usage: usage(1, output) },
]
const says = (output: number): ScriptItem[] => ['Done.', { stop: 'end_turn', usage: usage(1, output) }]

const sized = <Given extends Model>(model: Given, maxOutputTokens = 10, name?: string): Given =>
  Object.assign(model, { info: { maxOutputTokens, ...(name !== undefined && { name }) } })

const noop = defineTool({
  name: 'Noop',
  inputSchema: z.object({ n: z.number().optional() }),
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  call: async ({ n }) => ({ data: `did ${n}` }),
}) as AnyTool

async function play(options: Omit<QueryOptions, 'messages'>) {
  const run = query({ messages: 'go', canUseTool: allowAllTools, ...options })
  const seen: QueryMessage[] = []
  for (;;) {
    const step = await run.next()
    if (step.done === true) return { run, seen, result: step.value }
    seen.push(step.value)
  }
}

const endless = (turn: ScriptTurn) => scriptedModel(Array.from({ length: 50 }, () => turn))

describe('limits', () => {
  it('U1 U2 turns: no request is made beyond it, and the transcript is valid', async () => {
    const model = endless(() => calls(1, 'Noop'))
    const { run, result } = await play({ tools: [noop], model, limits: { turns: 3 } })
    expect(result).toMatchObject({ reason: 'limit', limit: 'turns', used: 3, max: 3 })
    expect(model.requests).toHaveLength(3)
    expect(checkTranscript(run.transcript)).toEqual({ ok: true })
  })

  it('U1 U2 calls: one too many does not run, is answered, and ends the run', async () => {
    const model = scriptedModel([calls(1, 'Noop', 'Noop', 'Noop'), says(1)])
    const { run, result } = await play({ tools: [noop], model, limits: { calls: 2 } })
    expect(result).toMatchObject({ reason: 'limit', limit: 'calls', used: 2, max: 2, usage: { calls: 2 } })
    expect(model.requests).toHaveLength(1)
    expect(checkTranscript(run.transcript)).toEqual({ ok: true })
    expect(JSON.stringify(run.transcript.at(-1))).toContain('the limit on the number of calls is reached')
  })

  it('U1 a model may answer after its last call', async () => {
    const model = scriptedModel([calls(1, 'Noop', 'Noop'), says(1)])
    expect((await play({ tools: [noop], model, limits: { calls: 2 } })).result.reason).toBe('completed')
  })

  it('U2 outputTokens: a request whose max_tokens could break the cap is not made', async () => {
    const model = sized(
      endless(() => calls(4, 'Noop')),
      10,
    )
    const { result } = await play({ tools: [noop], model, limits: { outputTokens: 20 } })
    // 4, 8 and 12 leave less than 10
    expect(result).toMatchObject({ reason: 'limit', limit: 'outputTokens', used: 12, max: 20 })
    expect(model.requests).toHaveLength(3)
  })

  it('U2 inputTokens: the input is estimated from the last usage and what is new', async () => {
    const turn: ScriptTurn = [
      { call: 'Long', input: {} },
      { stop: 'tool_use', usage: usage(1_000, 1) },
    ]
    const long = defineTool({
      name: 'Long',
      inputSchema: z.object({}),
      mayRepeat: true,
      call: async () => ({ data: 'x'.repeat(3_000) }),
    }) as AnyTool
    const model = endless(turn)
    const { result } = await play({ tools: [long], model, limits: { inputTokens: 2_500 } })
    // the second request needs about 2,000: 1,000 as before, and 1,000 for the result
    expect(result).toMatchObject({ reason: 'limit', limit: 'inputTokens', used: 1_000, max: 2_500 })
    expect(model.requests).toHaveLength(1)
  })

  it('U2 costUsd: measured by the price table, with the reserve', async () => {
    const model = sized(
      endless(() => calls(10, 'Noop')),
      10,
      'scripted',
    )
    const prices = { scripted: { input: 0, output: 1_000_000 } }
    const { result } = await play({ tools: [noop], model, prices, limits: { costUsd: 25 } })
    expect(result).toMatchObject({ reason: 'limit', limit: 'costUsd', used: 20, max: 25, usage: { costUsd: 20 } })
  })

  it.each<[string, unknown]>([
    ['without usage', undefined],
    ['with negative numbers', { input_tokens: -1, output_tokens: -1 }],
    ['with no numbers', { input_tokens: Number.NaN, output_tokens: 'ten' }],
  ])('U2 a reply %s is charged its reserve', async (_, given) => {
    const end = { type: 'message_delta' as const, delta: { stop_reason: 'tool_use' }, usage: given }
    const begin = { type: 'message_start' as const, message: { id: '', model: 'silent' } }
    const model = sized(
      endless(() => [{ event: begin }, { call: 'Noop', input: { n: Math.random() } }, { event: end }, { cut: true }]),
      10,
    )
    const { result } = await play({ tools: [noop], model, limits: { outputTokens: 25 } })
    expect(result).toMatchObject({ reason: 'limit', limit: 'outputTokens', used: 20, max: 25 })
    expect(result.usage.models.silent).toMatchObject({ outputTokens: 0, assumedOutputTokens: 20 })
  })

  it('U2 a reply whose usage is told only at its start is charged its reserve', async () => {
    const begin = { type: 'message_start' as const, message: { id: '', model: 'm', usage: usage(1, 1) } }
    const end = { type: 'message_delta' as const, delta: { stop_reason: 'end_turn' } }
    const model = sized(scriptedModel([[{ event: begin }, 'Done.', { event: end }, { cut: true }]]), 10)
    const { result } = await play({ tools: [], model, limits: { outputTokens: 25 } })
    expect(result.usage.models.m).toMatchObject({ outputTokens: 1, assumedOutputTokens: 9 })
  })

  it('U2 a reply that is cut off is charged its reserve, because its count says only how it began', async () => {
    const clock = new SimulatedClock()
    const busy = Object.assign(new Error('busy'), { status: 529 })
    const begin = { type: 'message_start' as const, message: { id: 'm', model: 'cut', usage: usage(1, 2) } }
    const model = sized(scriptedModel([[{ event: begin }, { error: busy }], says(1)]), 10)
    const run = query({
      messages: 'go',
      tools: [],
      model,
      limits: { outputTokens: 15 },
      retry: { backoffMs: 0 },
      executor: { clock },
    })
    const ending = run.next()
    for (let n = 0; n < 30; n++) {
      await flush()
      clock.increment(1)
    }
    await ending
    while ((await run.next()).done !== true) void 0
    expect(run.result).toMatchObject({ reason: 'limit', limit: 'outputTokens', used: 10 })
    expect(run.usage.models.cut).toMatchObject({ outputTokens: 2, assumedOutputTokens: 8 })
  })

  it('U1 agents draw from the same budget, and a limit ends the run around them too', async () => {
    const inner = endless(() => calls(1, 'Noop'))
    const ended: unknown[] = []
    const agent = subAgent({ tools: [noop], model: inner, onQuery: (each) => () => ended.push(each.result) })
    const outer = scriptedModel([calls(1, 'Agent'), says(1)])
    const { run, result } = await play({ tools: [agent as AnyTool], model: outer, limits: { turns: 4 } })
    const reached = { reason: 'limit', limit: 'turns', used: 4, max: 4 }
    expect([result, ...ended]).toMatchObject([reached, reached])
    expect([outer.requests.length, inner.requests.length]).toEqual([1, 3])
    expect(checkTranscript(run.transcript)).toEqual({ ok: true })
  })

  it.each<[Limits, string, number]>([
    [{ agents: 1 }, 'agents', 1],
    [{ depth: 1 }, 'depth', 1],
    [{ agents: 0 }, 'agents', 0],
  ])('U1 %o: an agent too many never asks its model', async (limits, limit, used) => {
    const deepModel = scriptedModel([says(1)])
    const deep = subAgent({ name: 'Deep', tools: [], model: deepModel })
    const agent = subAgent({ tools: [deep as AnyTool], model: scriptedModel([calls(1, 'Deep'), says(1)]) })
    const model = scriptedModel([calls(1, 'Agent'), says(1)])
    const { result } = await play({ tools: [agent as AnyTool], model, limits })
    expect(result).toMatchObject({ reason: 'limit', limit, used, usage: { agents: used } })
    expect(deepModel.requests).toHaveLength(0)
  })

  it('U1 X4 a limit that an agent in the background uses up ends the run that waits for it, with its outcome', async () => {
    const [outer, inner] = [heldModel(), heldModel()]
    const agent = subAgent({ tools: [], model: inner.model }) as AnyTool
    const run = query({
      messages: 'go',
      tools: [agent],
      model: outer.model,
      canUseTool: allowAllTools,
      limits: { turns: 3 },
    })
    const ending = (async () => {
      for await (const _ of run);
    })()
    await flush()
    outer.start()
    outer.call('a', 'Agent', { prompt: 'look' })
    outer.end('tool_use')
    await flush()
    expect([inner.requests.length, run.detach('a')]).toEqual([1, true])
    await flush()
    outer.start()
    outer.text('meanwhile')
    outer.end()
    await flush()
    expect(run.actor.getSnapshot().value).toBe('awaiting')
    inner.start()
    inner.text('FOUND')
    inner.end()
    await ending
    expect(run.result).toMatchObject({ reason: 'limit', limit: 'turns', used: 3, max: 3 })
    expect(JSON.stringify(run.transcript.at(-1))).toContain('FOUND')
    expect([outer.requests.length, checkTranscript(run.transcript)]).toEqual([2, { ok: true }])
  })

  it('U1 limits of an agent end only the agent', async () => {
    const agent = subAgent({ tools: [noop], model: endless(() => calls(1, 'Noop')), limits: { turns: 2 } })
    const { run, result } = await play({
      tools: [agent as AnyTool],
      model: scriptedModel([calls(1, 'Agent'), says(1)]),
    })
    expect(result).toMatchObject({ reason: 'completed', usage: { turns: 4 } })
    expect(JSON.stringify(run.transcript)).toContain('The agent did not finish: limit')
  })

  it('U1 the same holds for an agent with a log of its own, and the limits of the session hold for it', async () => {
    const inner = endless(() => calls(1, 'Noop'))
    const agent = subAgent({ tools: [noop], model: inner, limits: { turns: 2 } })
    const tools = [agent as AnyTool]
    const model = scriptedModel([calls(1, 'Agent'), calls(1, 'Agent'), says(1)])
    const session = await openSession({
      ...{ id: 's', journals: memoryJournals(), canUseTool: allowAllTools },
      ...{ tools, model, limits: { turns: 5 } },
    })
    for await (const _ of session.send('go')) void _
    // two turns of the first agent, one of the second, and two of the session
    expect(session.result).toMatchObject({ reason: 'limit', limit: 'turns', used: 5, usage: { turns: 5, agents: 2 } })
    expect([model.requests.length, inner.requests.length]).toEqual([2, 3])
    expect(checkTranscript(session.transcript)).toEqual({ ok: true })
    await session.close()
  })

  it('U2 a request that only the reserves of others block waits for them', async () => {
    const [one, two] = [heldModel(), heldModel()]
    const agents = [one, two].map(({ model }, n) =>
      subAgent({ name: `Agent${n}`, tools: [], model: sized(model, 10), isConcurrencySafe: true }),
    )
    const outer = sized(scriptedModel([calls(1, 'Agent0', 'Agent1'), says(1)]), 10)
    const ending = play({ tools: agents as AnyTool[], model: outer, limits: { outputTokens: 16 } })
    await flush()
    await flush()
    expect([one.requests.length, two.requests.length]).toEqual([1, 0])
    const reply = (held: typeof one, output: number) => {
      held.start()
      held.text('ok')
      held.send({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: usage(1, output) })
      held.cut()
    }
    reply(one, 2)
    await flush()
    await flush()
    expect(two.requests).toHaveLength(1)
    reply(two, 2)
    expect((await ending).result).toMatchObject({ reason: 'completed', usage: { turns: 4 } })
  })

  it('U2 an abort ends a request that waits for its reserve, and its calls have results', async () => {
    const [one, two] = [heldModel(), heldModel()]
    const agents = [one, two].map(({ model }, n) =>
      subAgent({ name: `Agent${n}`, tools: [], model: sized(model, 10), isConcurrencySafe: true }),
    )
    const outer = sized(scriptedModel([calls(1, 'Agent0', 'Agent1'), says(1)]), 10)
    const run = query({
      messages: 'go',
      tools: agents as AnyTool[],
      model: outer,
      canUseTool: allowAllTools,
      limits: { outputTokens: 16 },
    })
    const ending = (async () => {
      for await (const _ of run) void _
    })()
    await flush()
    await flush()
    expect([one.requests.length, two.requests.length]).toEqual([1, 0])
    run.abort('enough')
    await ending
    expect(run.result).toMatchObject({ reason: 'aborted_tools' })
    expect(two.requests).toHaveLength(0)
    expect(checkTranscript(run.transcript)).toEqual({ ok: true })
  })

  it('U2 requests get their reserves in the order in which they came; one that leaves lets the next go on', async () => {
    const told: string[] = []
    const run = { limitReached: () => void told.push('limit'), limitNear: () => undefined }
    const account = new Account({ limits: { outputTokens: 10 } })
    account.join(run)
    const claim = (name: string, outputTokens: number) =>
      new Account({ parent: account }).reserve(run, { outputTokens }, () => void told.push(name))
    const first = claim('first', 8)
    const second = claim('second', 9)
    const third = claim('third', 2)
    // the third would fit, and does not overtake
    expect(told).toEqual(['first'])
    account.release(second)
    await flush()
    expect(told).toEqual(['first', 'third'])
    account.release(first)
    account.release(third)
    await flush()
    claim('too large', 11)
    expect(told).toEqual(['first', 'third', 'limit'])
    // it holds for everyone, until no run is left
    claim('small', 1)
    expect(told).toEqual(['first', 'third', 'limit', 'limit'])
    account.leave(run)
    account.join(run)
    claim('small', 1)
    expect(told).toEqual(['first', 'third', 'limit', 'limit', 'small'])
  })

  it('U2 a message to a run that waits for its reserve: one request is made, with the message', async () => {
    const account = new Account({ limits: { turns: 2 } })
    const held = heldModel()
    const run = query({ messages: 'go', tools: [], model: sized(held.model), canUseTool: allowAllTools, account })
    const other = { limitReached: () => undefined, limitNear: () => undefined }
    // somebody else's requests have reserved all turns
    const claims = [1, 2].map(() => account.reserve(other, { turns: 1 }, () => undefined))
    const ending = (async () => {
      for await (const _ of run);
    })()
    await flush()
    expect([run.actor.getSnapshot().value, held.requests.length]).toEqual(['reserving', 0])
    run.send('and this')
    await flush()
    expect([run.actor.getSnapshot().value, held.requests.length]).toEqual(['reserving', 0])
    for (const claim of claims) account.release(claim)
    await flush()
    expect(held.requests.map(({ messages }) => JSON.stringify(messages).includes('and this'))).toEqual([true])
    // what the first wait wanted is not reserved any more
    const granted: string[] = []
    account.reserve(other, { turns: 1 }, () => void granted.push('another'))
    expect(granted).toEqual(['another'])
    held.start()
    held.text('ok')
    held.end()
    await ending
    expect(run.result).toMatchObject({ reason: 'completed', usage: { turns: 1 } })
  })

  it('U2 a limit that others reach ends a run that waits for its next attempt', async () => {
    const clock = new SimulatedClock()
    const account = new Account({ limits: { agents: 0 } })
    const held = heldModel()
    const run = query({
      messages: 'go',
      tools: [],
      model: sized(held.model),
      canUseTool: allowAllTools,
      account,
      retry: { attempts: 3, backoffMs: 1_000 },
      executor: { clock },
    })
    const ending = (async () => {
      for await (const _ of run);
    })()
    await flush()
    held.fail(Object.assign(new Error('overloaded'), { status: 529 }))
    await flush()
    expect(run.actor.getSnapshot().value).toBe('retrying')
    account.agent()
    await ending
    expect(run.result).toMatchObject({ reason: 'limit', limit: 'agents', used: 0, max: 0 })
    expect(held.requests).toHaveLength(1)
  })

  it('U2 warns once at 80 %, in the outermost run', async () => {
    const agent = subAgent({ tools: [noop], model: scriptedModel([calls(1, 'Noop'), calls(1, 'Noop'), says(1)]) })
    const model = scriptedModel([calls(1, 'Agent'), says(1)])
    const { seen, result } = await play({ tools: [agent as AnyTool], model, limits: { turns: 5, calls: 100 } })
    const warnings = seen.filter((each) => each.type === 'system' && each.subtype === 'limit_warning')
    expect(warnings as LimitWarningMessage[]).toMatchObject([
      { limit: 'turns', used: 4, max: 5, message: '80 % of limits.turns are used: 4 of 5.' },
    ])
    expect(result.reason).toBe('completed')
  })

  it('U1 a session keeps its limits from run to run, and after a restart', async () => {
    const journals = memoryJournals()
    const options = { id: 's', journals, canUseTool: allowAllTools, tools: [noop], limits: { turns: 3 } }
    const first = await openSession({ ...options, model: scriptedModel([calls(1, 'Noop'), says(1)]) })
    for await (const _ of first.send('one')) void _
    expect(first.result?.reason).toBe('completed')
    await first.close()
    const model = endless(() => calls(1, 'Noop'))
    const second = await openSession({ ...options, model })
    for await (const _ of second.send('two')) void _
    expect(second.result).toMatchObject({ reason: 'limit', limit: 'turns', used: 3, max: 3 })
    for await (const _ of second.send('three')) void _
    expect(second.result).toMatchObject({ reason: 'limit' })
    expect(model.requests).toHaveLength(1)
    expect(checkTranscript(second.transcript)).toEqual({ ok: true })
    await second.close()
  })

  it.each<[string, Limits | undefined, object, string]>([
    [
      'a text',
      { turns: '7' as never },
      {},
      'limits.turns: expected an integer of at least 0, or Infinity, received "7"',
    ],
    ['NaN', { costUsd: Number.NaN }, {}, 'limits.costUsd: expected a number of at least 0'],
    ['a negative number', { durationMs: -1 }, {}, 'limits.durationMs: expected a number of at least 0'],
    ['half a call', { calls: 1.5 }, {}, 'limits.calls: expected an integer of at least 0, or Infinity'],
    ['an unknown name', { tokens: 5 } as Limits, {}, 'Unknown option limits.tokens'],
    ['a list', [] as never, {}, 'limits: expected an object of limits'],
    ['no object', 7 as never, {}, 'limits: expected an object of limits'],
    ['a cost without prices', { costUsd: 1 }, {}, 'prices: expected a price for each model'],
    [
      'a model without a price',
      { costUsd: 1 },
      { prices: { other: { input: 1, output: 1 } } },
      'needs the price of the model "m"',
    ],
    ['a price that is none', undefined, { prices: { m: { input: 1 } } }, 'prices["m"]: expected { input, output }'],
  ])('U1 %s is an error at the start', (_, limits, more, message) => {
    const model = sized(scriptedModel([]), 10, 'm')
    expect(() => query({ messages: 'go', tools: [], model, limits, ...more })).toThrow(message)
    expect(() => createSession({ tools: [], model, limits, ...more }).send('go')).toThrow(message)
  })

  it('U2 a model that does not say how long a reply may be is an error where that counts', () => {
    const options = { messages: 'go', tools: [], model: scriptedModel([]) }
    expect(() => query({ ...options, limits: { outputTokens: 5 } })).toThrow(
      'limits.outputTokens needs the most tokens',
    )
    expect(() => query({ ...options, limits: { turns: 5, inputTokens: 9 } })).not.toThrow()
  })

  it('U2 a session that cannot be opened for that reason is not left open', async () => {
    const journals = memoryJournals()
    const open = journals.open.bind(journals)
    let closed = 0
    journals.open = async (...given) => {
      const journal = await open(...given)
      const close = journal.close.bind(journal)
      return Object.assign(journal, { close: () => ++closed && close() })
    }
    const options = { id: 's', journals, tools: [], model: scriptedModel([says(1)]) }
    await expect(openSession({ ...options, limits: { outputTokens: 5 } })).rejects.toThrow('needs the most tokens')
    expect(closed).toBe(1)
    const session = await openSession(options)
    for await (const _ of session.send('go')) void _
    expect(session.result?.reason).toBe('completed')
    await session.close()
  })

  it('U2 a model whose name is not known is charged the highest price', async () => {
    const prices = { a: { input: 0, output: 1_000_000 }, b: { input: 0, output: 2_000_000 } }
    const { result } = await play({
      tools: [],
      model: sized(scriptedModel([says(3)]), 10),
      prices,
      limits: { costUsd: 100 },
    })
    expect(result).toMatchObject({ reason: 'completed', usage: { costUsd: 6 } })
  })
})

describe('durationMs', () => {
  function timed(limits: Limits, more: Partial<QueryOptions> = {}) {
    const clock = new SimulatedClock()
    const held = heldModel()
    const slow = heldTool('Slow', { obedient: true })
    const run = query({
      messages: 'go',
      tools: [slow.tool],
      model: held.model,
      canUseTool: allowAllTools,
      limits,
      executor: { clock, abortGraceMs: 10 },
      ...more,
    })
    const messages: QueryMessage[] = []
    const ending = (async () => {
      for await (const message of run) messages.push(message)
      return run.result
    })()
    const call = async () => {
      held.start()
      held.call('a', 'Slow')
      held.end('tool_use')
      await flush()
    }
    return { clock, held, slow, run, ending, call, messages }
  }

  it('U1 counts while the model is asked, and stops it', async () => {
    const { clock, held, run, ending, messages } = timed({ durationMs: 100 })
    await flush()
    held.start()
    held.text('half')
    clock.increment(80)
    await flush()
    expect(messages.filter(({ type }) => type === 'system')).toMatchObject([
      { subtype: 'limit_warning', limit: 'durationMs', used: 80, max: 100 },
    ])
    clock.increment(20)
    expect(await ending).toMatchObject({ reason: 'limit', limit: 'durationMs', used: 100, max: 100 })
    expect(held.requests[0]?.signal.aborted).toBe(true)
    expect(checkTranscript(run.transcript)).toEqual({ ok: true })
  })

  it('U1 stops the model at once, also where a body does not stop', async () => {
    const stubborn = heldTool('Slow')
    const { clock, held, run, ending } = timed({ durationMs: 100 }, { tools: [stubborn.tool] })
    await flush()
    held.start()
    held.call('a', 'Slow')
    held.text('and')
    await flush()
    expect(stubborn.started).toEqual(['a'])
    clock.increment(100)
    await flush()
    expect([run.result, held.requests[0]?.signal.aborted]).toEqual([undefined, true])
    clock.increment(10)
    expect(await ending).toMatchObject({ reason: 'limit', limit: 'durationMs' })
    expect(checkTranscript(run.transcript)).toEqual({ ok: true })
  })

  it('U2 a reply that is not announced counts like any other', async () => {
    const model: Model = async function* () {
      yield {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: '', name: 'Noop', input: {} },
      }
      yield {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: `{"n":${Math.random()}}` },
      }
      yield { type: 'content_block_stop', index: 0 }
      yield { type: 'message_delta', delta: { stop_reason: 'tool_use' } }
    }
    for (const [limits, used] of [
      [{ turns: 2 }, 2],
      [{ outputTokens: 35 }, 30],
    ] as const) {
      const { result } = await play({ tools: [noop], model: sized(model, 10), limits, maxTurns: 9 })
      expect(result).toMatchObject({ reason: 'limit', used })
    }
  })

  it('U1 counts while a body runs, stops it, and its call has a result', async () => {
    const { clock, slow, run, ending, call } = timed({ durationMs: 100 })
    await flush()
    clock.increment(30)
    await call()
    clock.increment(70)
    await flush()
    expect(slow.run('a').context.abortController.signal.reason).toBe('limit')
    expect(await ending).toMatchObject({ reason: 'limit', limit: 'durationMs', used: 100 })
    expect(checkTranscript(run.transcript)).toEqual({ ok: true })
    expect(JSON.stringify(run.transcript)).toContain('The time limit of the session is reached')
  })

  it('U1 does not count while a person is asked', async () => {
    let answer: (given: { behavior: 'allow' }) => void = () => undefined
    const asked = new Promise<{ behavior: 'allow' }>((resolve) => {
      answer = resolve
    })
    const { clock, held, slow, ending, call } = timed({ durationMs: 100 }, { canUseTool: () => asked })
    await flush()
    await call()
    clock.increment(1_000_000)
    answer({ behavior: 'allow' })
    await flush()
    clock.increment(40)
    slow.run('a').finish({ data: 'ok' })
    await flush()
    held.start()
    held.text('done')
    held.end()
    expect(await ending).toMatchObject({ reason: 'completed', usage: { activeMs: 40 } })
  })

  it('U1 counts hooks', async () => {
    let finish = (): void => undefined
    const hook = () =>
      new Promise<void>((resolve) => {
        finish = resolve
      })
    const hooks = { PreToolUse: [{ hooks: [hook] }] }
    const { clock, ending, call, slow } = timed({ durationMs: 100 }, { context: { hooks } })
    await flush()
    await call()
    clock.increment(100)
    expect(await ending).toMatchObject({ reason: 'limit', limit: 'durationMs' })
    expect(slow.started).toEqual([])
    finish()
  })

  it('U1 a clock that jumps back neither takes time away nor gives more', async () => {
    const real = new SimulatedClock()
    let skew = 0
    const clock = {
      setTimeout: (fn: () => void, ms: number) => real.setTimeout(fn, ms),
      clearTimeout: (id: unknown) => real.clearTimeout(id as never),
      now: () => real.now() + skew,
    }
    const { held, ending, run } = timed({ durationMs: 100 }, { executor: { clock, abortGraceMs: 10 } })
    await flush()
    held.start()
    real.increment(50)
    skew = -1_000_000
    expect(run.usage.activeMs).toBe(0)
    for (let n = 0; n < 5; n++) real.increment(10)
    expect(await ending).toMatchObject({ reason: 'limit', limit: 'durationMs', max: 100 })
    expect((run.result as { used?: number }).used).toBeGreaterThanOrEqual(100)
  })

  it('U1 two things at once count once', async () => {
    const { clock, held, slow, ending } = timed({ durationMs: 100 })
    await flush()
    held.start()
    held.call('a', 'Slow')
    held.text('and more')
    await flush()
    clock.increment(30)
    held.end('tool_use')
    await flush()
    clock.increment(30)
    slow.run('a').finish({ data: 'ok' })
    await flush()
    held.start()
    held.end()
    expect(await ending).toMatchObject({ reason: 'completed', usage: { activeMs: 60 } })
  })
})
