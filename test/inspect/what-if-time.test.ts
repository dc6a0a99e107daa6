import { scriptedModel } from 'signalbox/scripted'
import { subAgent } from 'signalbox/sub-agent'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type Limits, type Model, query, type Tool } from '../../src/index.ts'
import { createRecorder, type Frame, ShownRuns, whatIfConversation } from '../../src/inspect/index.ts'
import { flush, simulatedClock } from '../../src/testing/index.ts'
import { randomFrom } from '../../src/testing/repeatable.ts'

const rounds = process.env.SIGNALBOX_FULL === undefined ? 60 : 1_500
const seed = Number(process.env.SIGNALBOX_SEED ?? 7)

type Random = () => number
const below = (random: Random, end: number): number => Math.floor(random() * end)
const sometimes = (random: Random, end: number): number => (random() < 0.3 ? 5 * below(random, end) : 0)

interface PlannedCall {
  readonly name: string
  readonly ms: number
  readonly agent: PlannedAgent | undefined
}

interface PlannedAgent {
  readonly replies: readonly (readonly PlannedCall[])[]
}

/** Replies with up to three calls each, some of them agents with replies of their own. */
function planReplies(random: Random, most: number, depth: number): PlannedCall[][] {
  return Array.from({ length: 1 + below(random, most) }, () =>
    Array.from({ length: below(random, 4) }, () => {
      const name = ['Read', 'Write', 'Agent', 'Explore'][below(random, depth < 2 ? 4 : 2)] as string
      const isAgent = name === 'Agent' || name === 'Explore'
      const agent = isAgent ? { replies: planReplies(random, 2, depth + 1) } : undefined
      return { name, ms: below(random, 8) * 5, agent }
    }),
  )
}

/** Up to four replies with up to three calls each, and how long everything takes. */
function plan(random: Random) {
  return {
    replies: planReplies(random, 4, 0),
    /** Before, between and after the parts of each reply. */
    pauses: Array.from({ length: 12 }, () => (random() < 0.5 ? 0 : below(random, 5) * 5)),
    questionMs: sometimes(random, 5),
    hookMs: sometimes(random, 4),
  }
}

/** The planned query, on a simulated clock. */
async function play({ replies, pauses, questionMs, hookMs }: ReturnType<typeof plan>, limits?: Limits) {
  const clock = simulatedClock()
  const wait = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))
  const frames: Frame[] = []
  const shown = new ShownRuns()
  shown.begin(createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now(), epoch: 0 }))
  const tool = (name: string, isSafe: boolean) =>
    defineTool({
      name,
      inputSchema: z.object({ ms: z.number() }),
      isConcurrencySafe: () => isSafe,
      call: ({ ms }, { abortController: { signal } }) =>
        new Promise<{ data: number }>((resolve, reject) => {
          if (ms === 0) return resolve({ data: ms })
          clock.setTimeout(() => resolve({ data: ms }), ms)
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    })
  const usage = { input_tokens: 1, output_tokens: 1 }
  const agents: { readonly id: string; readonly planned: PlannedAgent }[] = []
  let paused = 0
  let ids = 0
  const pause = () => ({ wait: pauses[paused++ % pauses.length] as number })
  const callOf = ({ name, ms, agent: planned }: PlannedCall, id: string) => {
    const input = planned === undefined ? { ms } : { prompt: String(agents.push({ id, planned }) - 1) }
    return { call: name, id, input }
  }
  /** The first call of an agent has the id of the call that it works for. */
  const modelWith = (turns: readonly (readonly PlannedCall[])[], around: string) => {
    let calls = 0
    const nextId = (): string => (calls++ === 0 ? around : `call_${++ids}`)
    return scriptedModel(
      [
        ...turns.map((asked) => [
          pause(),
          { text: 'so' },
          pause(),
          ...asked.flatMap((each) => [callOf(each, nextId()), pause()]),
          { stop: 'tool_use' as const, usage },
        ]),
        [pause(), 'Done.', pause()],
      ],
      { clock },
    )
  }
  const tools = [tool('Read', true), tool('Write', false)]
  const models: Model[] = []
  /** Each agent has replies of its own: its prompt is its number. */
  const inner: Model = (request) => {
    const number = Number(JSON.stringify(request.messages[0]?.content).replace(/\D/g, ''))
    models[number] ??= modelWith(agents[number]?.planned.replies ?? [], agents[number]?.id ?? '')
    return (models[number] as Model)(request)
  }
  const agentNamed = (name: string, own: readonly Tool[]): Tool =>
    subAgent({
      name,
      tools: own,
      model: inner,
      isConcurrencySafe: name === 'Explore',
      executor: { clock },
      onQuery: (run, { toolUseID }) => shown.add(run, { parentToolUseID: toolUseID }),
    })
  const agentTools = (own: readonly Tool[]): Tool[] => ['Agent', 'Explore'].map((name) => agentNamed(name, own))
  const hook = async () => {
    await wait(hookMs)
    return {}
  }
  const run = query({
    messages: 'go',
    tools: [...tools, ...agentTools([...tools, ...agentTools(tools)])],
    model: modelWith(replies, 'call'),
    canUseTool: async () => {
      if (questionMs > 0) await wait(questionMs)
      return { behavior: 'allow' }
    },
    context: hookMs > 0 ? { hooks: { PreToolUse: [{ hooks: [hook] }] } } : {},
    loopGuard: false,
    limits,
    executor: { clock },
  })
  shown.add(run)
  let isOver = false
  const reading = (async () => {
    for await (const _ of run);
    isOver = true
  })()
  await flush()
  for (let steps = 0; !isOver && steps < 5_000; steps++) {
    clock.increment(clock.nextDueIn ?? 0)
    await flush()
  }
  await reading
  return { frames, result: run.result, endedAt: clock.now() }
}

describe('a random query with a random limit', () => {
  it('U1 U2 ends as the same query without a limit, simulated with it', async () => {
    const random = randomFrom(seed)
    const limited = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      const planned = plan(random)
      const free = await play(planned)
      const all = free.result?.usage
      const most = { durationMs: free.endedAt + 20, turns: (all?.turns ?? 0) + 1, calls: (all?.calls ?? 0) + 1 }
      const name = (['durationMs', 'durationMs', 'turns', 'calls'] as const)[below(random, 4)] as keyof typeof most
      const limits: Limits = { [name]: below(random, most[name]) + (name === 'durationMs' ? 1 : 0) }
      const real = await play(planned, limits)
      const { limit, turns, simulatedMs } = whatIfConversation(free.frames, { limits })
      const {
        reason,
        limit: reached,
        used = 0,
      } = { ...real.result } as { reason: string; limit?: string; used?: number }
      const of = (type: Frame['type']) => real.frames.filter((frame) => frame.type === type).length
      const what = JSON.stringify({ round, limits, planned })
      expect(limit === undefined ? 'completed' : 'limit', what).toBe(reason)
      if (limit !== undefined) {
        expect(limit.limit, what).toBe(reached)
        expect(limit.used, what).toBeCloseTo(used, 6)
        limited.add(name)
      }
      // a request that is stopped before its reply begins is no turn in the usage, but its turn has begun
      expect(turns.filter(({ reach }) => reach !== 'notBegun').length, what).toBe(of('run'))
      expect((all?.calls ?? 0) - (limit?.callsLeft ?? 0), what).toBe(real.result?.usage?.calls)
      expect(simulatedMs, what).toBe(real.endedAt)
    }
    expect([...limited].sort()).toEqual(['calls', 'durationMs', 'turns'])
  }, 600_000)
})
