import { scriptedModel } from 'signalbox/scripted'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { allowAllTools, defineTool, type Limits, query } from '../../src/index.ts'
import { createRecorder, type Frame, ShownRuns, whatIfConversation } from '../../src/inspect/index.ts'
import { flush, heldTool, heldTurn, simulatedClock } from '../../src/testing/index.ts'

const prices = { scripted: { input: 100, output: 1_000 } }

/** Four replies with two calls each, and a last word. Each uses 1,000 tokens of input and 100 of output. */
async function talk(limits?: Limits) {
  const frames: Frame[] = []
  const shown = new ShownRuns()
  shown.begin(createRecorder({ onFrame: (frame) => frames.push(frame), prices }))
  const noop = defineTool({
    name: 'Noop',
    inputSchema: z.object({ n: z.number() }),
    isConcurrencySafe: () => true,
    call: async ({ n }) => ({ data: n }),
  })
  const usage = { input_tokens: 1_000, output_tokens: 100 }
  const scripted = scriptedModel([
    ...Array.from({ length: 4 }, (_, n) => [
      { call: 'Noop', input: { n } },
      { call: 'Noop', input: { n: -n } },
      { stop: 'tool_use' as const, usage },
    ]),
    ['Done.', { stop: 'end_turn' as const, usage }],
  ])
  const model = Object.assign(scripted, { info: { name: 'scripted', maxOutputTokens: 100 } })
  const run = query({
    ...{ messages: 'go', tools: [noop], model, canUseTool: allowAllTools },
    ...{ loopGuard: false, prices, limits },
  })
  shown.add(run)
  let calls = 0
  for await (const message of run) if (message.type === 'user') calls++
  return { frames, calls, result: await run.result }
}

describe('limits of a conversation, simulated', () => {
  it.each<[Limits]>([
    [{ turns: 3 }],
    [{ turns: 0 }],
    [{ calls: 5 }],
    [{ calls: 0 }],
    [{ outputTokens: 350 }],
    [{ outputTokens: 99 }],
    [{ costUsd: 0.45 }],
  ])('U1 U2 ends where a real run with %j ends', async (limits) => {
    const [free, limited] = [await talk(), await talk(limits)]
    const { limit, turns } = whatIfConversation(free.frames, { limits, maxOutputTokens: 100 })
    const { result } = limited
    expect(result?.reason).toBe('limit')
    const { limit: name, used, max } = result as unknown as { limit: string; used: number; max: number }
    expect(limit).toMatchObject({ limit: name, used, max })
    expect(turns.filter(({ reach }) => reach !== 'notBegun')).toHaveLength(limited.result?.usage?.turns ?? -1)
  })

  it('U1 a limit that nothing reaches changes nothing', async () => {
    const { frames } = await talk()
    const found = whatIfConversation(frames, { limits: { turns: 5, calls: 8, outputTokens: 500, inputTokens: 5_000 } })
    expect(found.limit).toBeUndefined()
    expect(found.simulatedMs).toBe(found.recordedMs)
    expect(new Set(found.turns.map(({ reach }) => reach))).toEqual(new Set(['end']))
  })

  it('U1 time is up in the middle of a body: the conversation stops there', async () => {
    const found = whatIfConversation(await twoTurns(), { limits: { durationMs: 150 } })
    expect(found.limit).toMatchObject({ limit: 'durationMs', used: 150, max: 150, at: 150, callsLeft: 1, turnsLeft: 1 })
    expect(found.turns.map(({ reach, simulated }) => [reach, simulated.startsAt, simulated.endsAt])).toEqual([
      ['cut', 0, 150],
      ['notBegun', undefined, undefined],
    ])
    expect([found.recordedMs, found.simulatedMs]).toEqual([300, 150])
  })

  it('U1 limits apply to the simulated times: calls side by side use less time', async () => {
    const frames = await twoTurns()
    const resources = ({ id }: { id: string }) => ({ writes: [`file:${id}`] })
    expect(whatIfConversation(frames, { resources, limits: { durationMs: 151 } }).limit).toBeUndefined()
    expect(whatIfConversation(frames, { limits: { durationMs: 151 } }).limit?.at).toBe(151)
  })

  it('U1 names the refused call; those before it end as simulated', async () => {
    const found = whatIfConversation(await twoTurns(), { limits: { calls: 1 } })
    expect(found.limit).toMatchObject({ limit: 'calls', run: 1, call: 'b', callsLeft: 2, turnsLeft: 1 })
    expect(found.turns[0]?.simulated.endsAt).toBe(100)
    expect(found.simulatedMs).toBe(100)
  })

  it('U1 agents draw from the same limits', async () => {
    const frames = await withAgent()
    const reaches = (limits: Limits) => {
      const { limit, turns } = whatIfConversation(frames, { limits })
      return [limit?.run, limit?.at, turns.map(({ reach }) => reach)]
    }
    expect(reaches({ turns: 1 })).toEqual([2, 10, ['cut', 'notBegun', 'notBegun']])
    expect(reaches({ agents: 0 })).toEqual([2, 10, ['cut', 'notBegun', 'notBegun']])
    expect(reaches({ depth: 0 })).toEqual([2, 10, ['cut', 'notBegun', 'notBegun']])
    expect(reaches({ turns: 2 })).toEqual([3, 110, ['end', 'end', 'notBegun']])
    expect(reaches({ calls: 1 })).toEqual([2, 10, ['end', 'cut', 'notBegun']])
    // the agent's call counts with what is done inside
    expect(reaches({ durationMs: 60 })).toEqual([2, 70, ['cut', 'cut', 'notBegun']])
  })

  it('U1 rejects an invalid limit, and a cost without prices', async () => {
    const frames = await twoTurns()
    expect(() => whatIfConversation(frames, { limits: { calls: 1.5 } })).toThrow('limits.calls')
    expect(() => whatIfConversation(frames, { limits: { costUsd: 1 } })).toThrow('prices')
    const { limit, caveats } = whatIfConversation(frames, { limits: { outputTokens: 10 } })
    expect(limit).toBeUndefined()
    expect(caveats).toEqual(['Turns without token counts in the recording count as 0 tokens: 2.'])
  })
})

function stage() {
  const clock = simulatedClock()
  const frames: Frame[] = []
  const recorder = createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now(), epoch: 0 })
  const turn = (title: string, parentToolUseID?: string) => {
    const [write, agent] = [heldTool('Write'), heldTool('Agent')]
    const { executor, add } = heldTurn([write.tool, agent.tool], { clock })
    recorder.watch(executor, { title, ...(parentToolUseID !== undefined && { parentToolUseID }) })
    const finish = async (tool: typeof write, id: string): Promise<void> => {
      tool.run(id).finish()
      await flush()
      for (const _ of executor.getCompletedResults());
    }
    return { add, write: (id: string) => finish(write, id), agent: (id: string) => finish(agent, id) }
  }
  const pass = async (ms: number): Promise<void> => {
    await flush()
    clock.increment(ms)
    await flush()
  }
  return { turn, pass, frames }
}

/** 0: two writes, 100 ms each. 250: a write of 50 ms. */
async function twoTurns(): Promise<Frame[]> {
  const { turn, pass, frames } = stage()
  const first = turn('turn 1')
  first.add('a', 'Write')
  first.add('b', 'Write')
  await pass(100)
  await first.write('a')
  await pass(100)
  await first.write('b')
  await pass(50)
  const second = turn('turn 2')
  second.add('c', 'Write')
  await pass(50)
  await second.write('c')
  return frames
}

/** 0: an agent, which writes from 10 to 110 ms. 110: a turn of 50 ms. */
async function withAgent(): Promise<Frame[]> {
  const { turn, pass, frames } = stage()
  const outer = turn('turn 1')
  outer.add('agent', 'Agent')
  await pass(10)
  const inner = turn('agent, turn 1', 'agent')
  inner.add('a', 'Write')
  await pass(100)
  await inner.write('a')
  await outer.agent('agent')
  const next = turn('turn 2')
  next.add('b', 'Write')
  await pass(50)
  await next.write('b')
  return frames
}
