import { foldJournal, type JournalRecord, openSession } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { subAgent } from 'signalbox/sub-agent'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type AnyTool,
  allowAllTools,
  defineTool,
  type Message,
  type Model,
  type SessionOptions,
} from '../../src/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import type { RunUsage, Spent } from '../../src/usage/usage-total.ts'
import { cutJournals } from '../support/cut-journals.ts'
import { lives, readAll, settle, startReply, until } from '../support/durable-lives.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'

/** Calls for ever. */
const calling: Model = (request) => {
  const n = request.messages.length
  const usage = { input_tokens: 10, output_tokens: 5 }
  return scriptedModel([
    [
      { call: 'Act', input: { n }, id: `c${n}` },
      { stop: 'tool_use', usage },
    ],
  ])(request)
}

const model: Model = Object.assign(calling, { info: { name: 'm', maxOutputTokens: 20 } })

async function play(
  limits: SessionOptions['limits'],
  before: readonly JournalRecord[],
  more: Pick<SessionOptions, 'maxTurns'> = {},
) {
  const store = cutJournals(before)
  const starts: string[] = []
  let requests = 0
  const counted: Model = (request) => {
    requests++
    return model(request)
  }
  const act = defineTool({
    name: 'Act',
    inputSchema: z.object({ n: z.number() }),
    call: async (_input, { toolUseID }) => {
      starts.push(toolUseID)
      return { data: 'acted' }
    },
  }) as AnyTool
  const session = await openSession({
    id: 's',
    journals: store,
    tools: [act],
    model: Object.assign(counted, { info: model.info }),
    limits,
    canUseTool: allowAllTools,
    ...more,
  })
  const usageAtOpen = session.usage
  if (session.status === 'suspended') for await (const _ of session.resume());
  else if (session.transcript.length === 0) for await (const _ of session.send('go'));
  await session.whenIdle()
  const { transcript, usage, result } = session
  const { length } = store.records
  await session.close()
  return { starts, transcript, usage, usageAtOpen, requests, result, records: store.records.slice(0, length) }
}

const repliesIn = (transcript: readonly Message[]): number =>
  new Set(transcript.flatMap((message) => (message.type === 'assistant' ? [message.message.id] : []))).size

/** Over all models: one that was cut off has the name that it was asked for. */
function summed({ models }: RunUsage): Partial<Record<string, number>> {
  const sum: Record<string, number> = {}
  for (const usage of Object.values(models)) {
    for (const [field, count] of Object.entries(usage)) sum[field] = (sum[field] ?? 0) + count
  }
  return sum
}

describe('a session with limits whose process ends', () => {
  it.each([
    [{ turns: 3 }, 'turns', 3],
    [{ calls: 2 }, 'calls', 2],
  ] as const)('U1 D11 %j hold over a crash after any record, and what was used before it counts', async (limits, limit, most) => {
    const whole = await play(limits, [])
    expect(whole.result).toMatchObject({ reason: 'limit', limit })
    for (let length = 2; length <= whole.records.length; length++) {
      const before = whole.records.slice(0, length)
      const at = `${length} ${before.at(-1)?.t}`
      const { usage, transcript, records, starts } = await play(limits, before)
      expect([at, usage[limit] <= most, checkTranscript(transcript).ok]).toEqual([at, true, true])
      // the log tells the same, so that a third process knows it too
      expect([at, foldJournal(records).usage[limit]]).toEqual([at, usage[limit]])
      expect([at, foldJournal(records).reason]).toEqual([at, 'limit'])
      const begun = before.flatMap(({ t, call }) => (t === 'call.started' ? [String(call)] : []))
      expect([at, starts.filter((id) => begun.includes(id))]).toEqual([at, []])
      // a reply that the crash cut off and that counts is a turn too
      expect([at, repliesIn(transcript) <= (limit === 'turns' ? most : 9)]).toEqual([at, true])
    }
  })

  it('U1 D11 maxTurns holds over a crash after any record, and the usage of the run begins with its process', async () => {
    const maxTurns = 3
    const whole = await play(undefined, [], { maxTurns })
    expect(whole.result).toMatchObject({ reason: 'max_turns', usage: { turns: maxTurns } })
    for (let length = 2; length <= whole.records.length; length++) {
      const before = whole.records.slice(0, length)
      const at = `${length} ${before.at(-1)?.t}`
      const { transcript, records, usage, usageAtOpen, result } = await play(undefined, before, { maxTurns })
      expect([at, foldJournal(records).reason, repliesIn(transcript)]).toEqual([at, 'max_turns', maxTurns])
      expect([at, usage.turns - (result?.usage.turns ?? 0)]).toEqual([at, usageAtOpen.turns])
    }
  })

  it('U2 D11 a request that a crash cut off is charged its reserve: never free, never twice', async () => {
    const limits = { outputTokens: 40, inputTokens: 10_000 }
    const whole = await play(limits, [])
    expect(whole.result).toMatchObject({ reason: 'limit', limit: 'outputTokens' })
    const spentIn = (records: readonly JournalRecord[]): Spent[] =>
      records.flatMap(({ t, spent }) => (t === 'usage.spent' ? [spent as Spent] : []))
    let cuts = 0
    for (let length = 2; length <= whole.records.length; length++) {
      const before = whole.records.slice(0, length)
      const at = `${length} ${before.at(-1)?.t}`
      const spent = spentIn(before)
      const opened = spent.flatMap(({ opens }) => opens ?? [])
      const closed = new Set(spent.flatMap(({ closes }) => closes ?? []))
      const open = opened.filter(({ number }) => !closed.has(number))
      expect([at, open.length <= 1]).toEqual([at, true])
      cuts += open.length
      const next = await play(limits, before)
      const { requests = 0, assumedOutputTokens = 0, assumedInputTokens = 0 } = summed(next.usageAtOpen)
      expect([at, requests, assumedOutputTokens]).toEqual([at, opened.length, open.length * 20])
      expect([at, assumedInputTokens]).toEqual([at, open[0]?.assumed.input ?? 0])
      expect([at, summed(next.usage).requests]).toEqual([at, opened.length + next.requests])
      const { outputTokens = 0, assumedOutputTokens: assumed = 0 } = summed(next.usage)
      expect([at, outputTokens + assumed <= 40]).toEqual([at, true])
      // a third process charges nothing more
      const third = await play(limits, next.records)
      expect([at, third.usageAtOpen]).toEqual([at, { ...next.usage, activeMs: third.usageAtOpen.activeMs }])
    }
    expect(cuts).toBeGreaterThan(4)
  })

  it('U1 U2 X9 a crash with the requests of a run and of its background agent open: both are charged, and the limit holds', async () => {
    const models = { outer: heldModel(), agent: heldModel() }
    const through = (name: 'outer' | 'agent'): Model =>
      Object.assign(((request) => models[name].model(request)) as Model, { info: { name, maxOutputTokens: 10 } })
    const agent = subAgent({ tools: [], model: through('agent') }) as AnyTool
    const world = lives([agent], { canUseTool: allowAllTools, limits: { outputTokens: 45 } })
    const first = await world.begin({ model: through('outer') })
    void readAll(first.session.send('go'))
    await until(() => models.outer.requests.length === 1)
    models.outer.start()
    models.outer.call('a1', 'Agent', { prompt: 'look' })
    models.outer.end('tool_use')
    await until(() => models.agent.requests.length === 1)
    expect(first.session.detach('a1')).toBe(true)
    await until(() => models.outer.requests.length === 2)
    models.outer.start()
    await world.written('usage.spent', 5)
    Object.assign(models, { outer: heldModel(), agent: heldModel() })
    const second = await world.begin({ model: through('outer') })
    expect(summed(second.session.usage)).toMatchObject({ requests: 3, assumedOutputTokens: 30 })
    const rest = readAll(second.session.resume())
    await until(() => models.outer.requests.length + models.agent.requests.length === 1)
    const asked = models.agent.requests.length === 1 ? models.agent : models.outer
    asked.start()
    asked.text('found')
    asked.end()
    await rest
    // a fifth request could use more than is left
    expect(second.session.result).toMatchObject({ reason: 'limit', limit: 'outputTokens', used: 40, max: 45 })
    expect(models.outer.requests.length + models.agent.requests.length).toBe(1)
    expect(checkTranscript(second.session.transcript).ok).toBe(true)
    await second.session.close()
  })

  it('U2 D17 the request of an agent that a crash cut off is charged once, for the whole tree', async () => {
    const pay = heldTool('Pay')
    const models = { agent: heldModel() }
    const through: Model = (request) => models.agent.model(request)
    const agent = subAgent({
      tools: [pay.tool],
      model: Object.assign(through, { info: { name: 'a', maxOutputTokens: 30 } }),
    })
    const world = lives([agent as AnyTool], { canUseTool: allowAllTools, limits: { turns: 50 } })
    const first = await world.begin()
    void readAll(first.session.send('go'))
    const { held } = await startReply(first)
    held.call('a1', 'Agent', { prompt: 'pay' })
    held.end('tool_use')
    await until(() => models.agent.requests.length === 1)
    models.agent.start()
    await settle()
    await world.written('usage.spent', 3)
    models.agent = heldModel()
    const second = await world.begin()
    expect(second.session.usage.models.a).toMatchObject({ requests: 1, assumedOutputTokens: 30 })
    const third = await world.begin()
    expect(third.session.usage).toEqual(second.session.usage)
    await third.session.close()
  })
})
