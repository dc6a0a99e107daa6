import { describe, expect, it } from 'vitest'
import { compareConversations, createRecorder, type Frame } from '../../src/inspect/index.ts'
import { flush, heldTool, heldTurn, simulatedClock, simulateQuery } from '../../src/testing/index.ts'

interface Plan {
  readonly isBroken?: boolean
  readonly isShort?: boolean
  readonly text?: string
  readonly innerMs?: number
  readonly path?: string
}

/** Two turns; the call of the first has an agent inside. Tokens: 150 in turn 1, 40 in the agent. */
async function recorded({
  isBroken,
  isShort,
  text = 'Done.',
  innerMs = 20,
  path = 'a.ts',
}: Plan = {}): Promise<Frame[]> {
  const clock = simulatedClock()
  const frames: Frame[] = []
  const recorder = createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now(), epoch: 0 })
  const [agent, read] = [heldTool('Agent', { safe: true }), heldTool('Read', { safe: true })]
  const turn = (title: string, parentToolUseID?: string) => {
    const made = heldTurn([agent.tool, read.tool], { clock })
    const { run } = recorder.watch(made.executor, { title, ...(parentToolUseID !== undefined && { parentToolUseID }) })
    const reply = (input: number, output: number): void => {
      const tokens = { input, output, cacheRead: 0, cacheWrite: 0 }
      const costUsd = (input + output) / 1_000
      const stamp = { seq: frames.length, at: clock.now(), run }
      frames.push({ ...stamp, type: 'reply', model: 'm', stopReason: 'tool_use', tokens, costUsd })
    }
    const take = async (): Promise<void> => {
      await flush()
      for (const _ of made.executor.getCompletedResults());
    }
    return { ...made, reply, take, say: (said: string) => recorder.say(run, 'model', said) }
  }
  const first = turn('turn 1')
  first.add('agent', 'Agent')
  first.reply(100, 50)
  await flush()
  const inner = turn('agent', 'agent')
  inner.add('r', 'Read', { path })
  await flush()
  clock.increment(innerMs)
  if (isBroken === true) read.run('r').fail(new Error('gone'))
  else read.run('r').finish()
  await inner.take()
  inner.reply(30, 10)
  agent.run('agent').finish()
  await first.take()
  if (isShort === true) return frames
  clock.increment(5)
  const last = turn('turn 2')
  last.say(text)
  return frames
}

const differencesOf = ({ turns }: ReturnType<typeof compareConversations>) =>
  turns.map(({ a, b, difference }) => [(a ?? b)?.title, difference])

describe('two conversations', () => {
  it('that are equal have no difference, whatever time they took', async () => {
    const found = compareConversations(await recorded(), await recorded({ innerMs: 90 }))
    expect([found.first, found.differences]).toEqual([-1, 0])
    expect(found.turns.map(({ a, depth }) => [a?.title, depth])).toEqual([
      ['turn 1', 0],
      ['agent', 1],
      ['turn 2', 0],
    ])
    expect([found.a, found.b]).toEqual([
      { turns: 3, calls: 2, failed: 0, ms: 25, tokens: 190, costUsd: 0.19 },
      { turns: 3, calls: 2, failed: 0, ms: 95, tokens: 190, costUsd: 0.19 },
    ])
    expect(found.turns[1]?.a).toMatchObject({ calls: 1, ms: 20, tokens: 40, costUsd: 0.04 })
  })

  it('part where a call of an agent ends in another way', async () => {
    const found = compareConversations(await recorded(), await recorded({ isBroken: true }))
    expect(found.first).toBe(1)
    expect(found.turns[1]?.difference).toMatchObject({ what: 'outcome', call: 'Read', a: 'a result', b: 'an error' })
    expect([found.a.failed, found.b.failed]).toEqual([0, 1])
  })

  it('part where an input, a text or a whole turn differs', async () => {
    const plain = await recorded()
    expect(compareConversations(plain, await recorded({ path: 'b.ts' })).turns[1]?.difference?.what).toBe('input')
    expect(differencesOf(compareConversations(plain, await recorded({ text: 'Done, I think.' })))).toEqual([
      ['turn 1', undefined],
      ['agent', undefined],
      ['turn 2', { what: 'text', call: undefined, a: 'Done.', b: 'Done, I think.' }],
    ])
    const short = compareConversations(plain, await recorded({ isShort: true }))
    expect(short.turns.at(-1)).toMatchObject({ b: undefined, difference: { what: 'turn', a: 'there', b: 'not there' } })
  })

  it('of a random query equal themselves', async () => {
    const texts: string[] = []
    await simulateQuery({ seed: 31, runs: 6, onRecording: (text) => texts.push(text) })
    for (const text of texts.filter((each) => each !== '')) {
      const frames = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Frame)
      expect(compareConversations(frames, frames).differences).toBe(0)
    }
  })

  it('without a run are rejected', async () => {
    const frames = await recorded()
    expect(() => compareConversations(frames, [])).toThrow('it contains no run')
  })
})
