import { subAgent } from 'signalbox/sub-agent'
import { describe, expect, it } from 'vitest'
import { SimulatedClock } from 'xstate'
import { z } from 'zod'
import {
  type AnyTool,
  allowAllTools,
  defineTool,
  type Limits,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type QueryMessage,
  query,
} from '../../src/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { callBlock, textBlock } from '../support/held-model.ts'

const trees = process.env.SIGNALBOX_FULL === '1' ? 10_000 : 200
const firstSeed = 21_050

/** Numbers from 0 to 1, the same for the same seed. */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const prices = { small: { input: 3, output: 15 }, large: { input: 10, output: 75, cacheRead: 1, cacheWrite: 12 } }
type Name = keyof typeof prices
const maxTokens: Record<Name, number> = { small: 40, large: 90 }

/**
 * The second accounting: kept by the service and the tools themselves, from what they were really asked to do. It knows
 * nothing of accounts and reserves.
 */
class Ledger {
  turns = 0
  calls = 0
  input = 0
  output = 0
  cost = 0
  ms = 0
  readonly agents = new Set<object>()
  deepest = 0
  /** The most that replies under way may still write. */
  open = 0
  openTurns = 0
  requests = 0
  readonly faults: string[] = []
  readonly #limits: Limits

  constructor(limits: Limits) {
    this.#limits = limits
  }

  begin(name: Name): void {
    this.requests++
    this.open += maxTokens[name]
    this.openTurns++
    const { durationMs = Infinity } = this.#limits
    if (this.ms >= durationMs) this.faults.push(`a request after ${this.ms} of ${durationMs} ms`)
    this.check()
  }

  end(name: Name, { input, output, isReply }: { input: number; output: number; isReply: boolean }): void {
    this.open -= maxTokens[name]
    this.openTurns--
    this.input += input
    this.output += output
    this.cost += (input * Math.max(prices[name].input, 0) + output * prices[name].output) / 1_000_000
    if (isReply) this.turns++
    this.check()
  }

  check(): void {
    const limits = this.#limits
    const at = (name: keyof Limits, used: number): void => {
      const max = limits[name]
      if (max !== undefined && used > max + 1e-9) this.faults.push(`${name}: ${used} of ${max}`)
    }
    at('turns', this.turns + this.openTurns)
    at('outputTokens', this.output + this.open)
    at('inputTokens', this.input)
    at('costUsd', this.cost)
    at('calls', this.calls)
    at('agents', this.agents.size)
    at('depth', this.deepest)
  }
}

interface World {
  readonly seed: number
  readonly limits: Limits
  readonly ledger: Ledger
  readonly ends: { reason: string; limit?: string }[]
  readonly seen: QueryMessage[]
  readonly usage: { turns: number; calls: number; agents: number; input: number; output: number }
  readonly isAborted: boolean
  readonly reason: string | undefined
  readonly isValid: boolean
}

function limitsFrom(next: () => number): Limits {
  const limits: Limits = {}
  const some = (name: keyof Limits, most: number, least = 0): void => {
    if (next() < 0.35) limits[name] = least + Math.floor(next() * most)
  }
  some('turns', 12)
  some('calls', 12)
  some('inputTokens', 20_000)
  some('outputTokens', 600)
  some('agents', 5)
  some('depth', 3)
  some('durationMs', 300)
  if (next() < 0.35) limits.costUsd = next() * 0.06
  return limits
}

async function playTree(seed: number): Promise<World> {
  const next = random(seed)
  const pick = (most: number): number => Math.floor(next() * most)
  const limits = limitsFrom(next)
  const ledger = new Ledger(limits)
  const clock = new SimulatedClock()
  const ends: World['ends'] = []
  const pause = async (): Promise<void> => {
    for (let n = pick(6); n > 0; n--) await Promise.resolve()
  }
  const work = (): void => {
    const ms = pick(12)
    ledger.ms += ms
    clock.increment(ms)
  }
  let ids = 0
  let budgetOfRequests = 60

  function modelOf(name: Name, canCall: readonly string[]): Model {
    const model = (request: ModelRequest): AsyncIterable<ModelEvent> => {
      ledger.begin(name)
      const size = JSON.stringify([request.messages, request.system, request.tools]).length
      const input = Math.ceil(size / 4)
      let isOpen = true
      const close = (output: number, isReply: boolean, sent = input): void => {
        if (isOpen) ledger.end(name, { input: sent, output, isReply })
        isOpen = false
      }
      async function* reply(): AsyncGenerator<ModelEvent> {
        let hasBegun = false
        let hasFailed = false
        try {
          await pause()
          work()
          const fate = next()
          hasFailed = fate < 0.09
          if (fate < 0.05) throw Object.assign(new Error('busy'), { status: 529 })
          hasBegun = true
          // some services say how many tokens they read when they begin
          const start = next() < 0.5 ? { usage: { input_tokens: input, output_tokens: 1 } } : {}
          yield { type: 'message_start', message: { id: `msg_${++ids}`, model: name, ...start } }
          if (fate < 0.09) throw Object.assign(new Error('cut off'), { code: 'ECONNRESET' })
          const calls = --budgetOfRequests > 0 && next() < 0.75 ? 1 + pick(3) : 0
          for (let n = 0; n < calls; n++) {
            const tool = canCall[pick(canCall.length)] as string
            yield* callBlock(n, `toolu_${++ids}`, tool, JSON.stringify({ prompt: 'x'.repeat(1 + pick(200)), n: ids }))
            await pause()
          }
          if (calls === 0) yield* textBlock(0, 'done')
          const output = pick(maxTokens[name] + 1)
          const tells = next()
          const usage =
            tells < 0.8
              ? { input_tokens: input, output_tokens: output }
              : [undefined, { input_tokens: Number.NaN, output_tokens: -3 }, { output_tokens: '9' }][pick(3)]
          const stop_reason = calls === 0 ? 'end_turn' : 'tool_use'
          // told or not, this is what it has used
          close(output, true)
          yield { type: 'message_delta', delta: { stop_reason }, usage }
          if (tells < 0.1) yield { type: 'message_delta', delta: {}, usage }
          yield { type: 'message_stop' }
        } finally {
          // stopped or failed: it may have written anything up to the most
          const output = hasBegun ? pick(maxTokens[name] + 1) : 0
          if (isOpen) close(output, hasBegun && !hasFailed, hasBegun ? input : 0)
        }
      }
      return reply()
    }
    return Object.assign(model, { info: { name, maxOutputTokens: maxTokens[name] } })
  }

  const noop = defineTool({
    name: 'Noop',
    inputSchema: z.object({ prompt: z.string(), n: z.number() }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    async call({ n }) {
      ledger.calls++
      ledger.check()
      await pause()
      work()
      return { data: `did ${n}` }
    },
  }) as AnyTool

  function agentAt(depth: number): AnyTool {
    const inner = depth < 3 ? [noop, agentAt(depth + 1)] : [noop]
    const names = inner.map(({ name }) => name)
    const tool = subAgent({
      name: `Agent${depth}`,
      tools: inner,
      model: modelOf(depth % 2 === 0 ? 'small' : 'large', names),
      isConcurrencySafe: true,
      retry: { backoffMs: 0 },
      executor: { clock },
      onQuery: (run) => {
        const stop = run.actor.subscribe((snapshot) => {
          if (!snapshot.matches('streaming')) return
          ledger.agents.add(run)
          ledger.deepest = Math.max(ledger.deepest, depth)
          ledger.check()
        })
        return () => {
          stop.unsubscribe()
          ends.push(run.result as World['ends'][number])
        }
      },
    })
    const call: typeof tool.call = (...given) => {
      ledger.calls++
      ledger.check()
      return tool.call(...given)
    }
    return { ...tool, call, ...(next() < 0.2 && { background: { afterMs: pick(20) } }) } as AnyTool
  }

  const tools = [noop, agentAt(1)]
  const run = query({
    messages: 'go',
    tools,
    model: modelOf('small', ['Noop', 'Agent1']),
    canUseTool: allowAllTools,
    limits,
    prices,
    retry: { backoffMs: 0 },
    executor: { clock },
  })
  const abortAt = next() < 0.08 ? pick(15) : undefined
  const seen: QueryMessage[] = []
  const reading = (async () => {
    for await (const message of run) seen.push(message)
  })()
  for (let n = 0; run.result === undefined; n++) {
    if (n > 20_000) throw new Error(`seed ${seed} hangs in ${JSON.stringify(run.actor.getSnapshot().value)}`)
    await new Promise((resolve) => setImmediate(resolve))
    clock.increment(1)
    if (abortAt !== undefined && ledger.requests >= abortAt) run.abort('enough')
  }
  await reading
  ends.push(run.result as World['ends'][number])
  const { turns, calls, agents, models } = run.usage
  const sum = (field: 'inputTokens' | 'outputTokens'): number =>
    Object.values(models).reduce((total, each) => total + each[field], 0)
  return {
    ...{ seed, limits, ledger, ends, seen, isAborted: abortAt !== undefined, reason: run.result?.reason },
    usage: { turns, calls, agents, input: sum('inputTokens'), output: sum('outputTokens') },
    isValid: checkTranscript(run.transcript).ok,
  }
}

describe('random trees of agents under limits', () => {
  it(`U1 U2 U3 no cap is exceeded, every run ends, and the accounts agree with those of the service`, async () => {
    const reached = new Set<string>()
    let limited = 0
    for (let seed = firstSeed; seed < firstSeed + trees; seed++) {
      const world = await playTree(seed)
      const { ledger, ends, isAborted, reason, usage, limits } = world
      const here = { seed, limits }
      expect({ ...here, faults: ledger.faults }).toEqual({ ...here, faults: [] })
      expect({ ...here, isValid: world.isValid }).toEqual({ ...here, isValid: true })
      // the account counts no less than what happened, and no more than the limits
      expect({ ...here, agents: usage.agents >= ledger.agents.size }).toEqual({ ...here, agents: true })
      expect({ ...here, calls: usage.calls >= ledger.calls }).toEqual({ ...here, calls: true })
      expect({ ...here, input: usage.input <= ledger.input }).toEqual({ ...here, input: true })
      // the beginning of a reply that is stopped may not be seen; a reply whose failure ends the run is kept as a turn
      const isStopped = isAborted || limits.durationMs !== undefined
      const failures = ends.filter((end) => end?.reason === 'model_error').length
      // agents in the background are stopped when the query ends
      const stopped = ends.filter((end) => end?.reason === 'aborted_streaming').length
      const least = isStopped ? 0 : ledger.turns - stopped
      const fits = usage.turns >= least && usage.turns <= ledger.turns + failures
      expect({ ...here, fits, turns: usage.turns }).toEqual({ ...here, fits: true, turns: usage.turns })
      for (const name of ['turns', 'calls', 'agents'] as const) {
        expect({ ...here, [name]: usage[name] <= (limits[name] ?? Infinity) }).toEqual({ ...here, [name]: true })
      }
      const stops = ends.flatMap((end) => (end?.reason === 'limit' && end.limit !== undefined ? [end.limit] : []))
      for (const limit of stops) reached.add(limit)
      if (reason === 'limit') limited++
      const expected = [
        'completed',
        'limit',
        'model_error',
        ...(isAborted ? ['aborted_streaming', 'aborted_tools'] : []),
      ]
      expect({ ...here, isExpected: expected.includes(String(reason)), reason }).toEqual({
        ...here,
        isExpected: true,
        reason,
      })
    }
    // the campaign has met every limit
    expect([...reached].sort()).toEqual([
      'agents',
      'calls',
      'costUsd',
      'depth',
      'durationMs',
      'inputTokens',
      'outputTokens',
      'turns',
    ])
    expect(limited).toBeGreaterThan(trees / 5)
  }, 3_600_000)
})
