import {
  type AnyTool,
  type Message,
  type Model,
  type ModelRequest,
  type Query,
  type QueryMessage,
  type QueryResult,
  query,
} from '../../src/index.ts'
import { callBlock } from '../support/held-model.ts'
import { apiInShort } from '../support/query.ts'
import { invalidity } from './api-validity.ts'
import { CountedClock } from './counted-clock.ts'
import type { Entry } from './entry.ts'
import { HeldBodies } from './held-bodies.ts'
import { HeldStream } from './held-stream.ts'
import { errorOf } from './model-errors.ts'
import { CallNames, messageInWords } from './seen.ts'
import type { CallPlan } from './story.ts'
import { backoffMs, graceMs, idleMs, type QueryPlan, replyTokens, tickMs, toolName, unknownName } from './story.ts'

/** The real query, driven entry by entry, and a record of everything visible. */
export class QueryUnderTest {
  readonly run: Query
  readonly clock = new CountedClock()
  readonly bodies = new HeldBodies(this.clock)
  readonly host = new AbortController()
  readonly streams: HeldStream[] = []
  readonly yielded: QueryMessage[] = []
  /** The observations, each with the number of the entry that caused it. */
  readonly seen = { yields: [] as string[], starts: [] as string[], requests: [] as string[] }
  readonly names: CallNames
  readonly faults: string[] = []
  result: QueryResult | undefined
  hasLeft = false
  hostListeners = 0
  /** Events are sent whether or not the reader waits for them. */
  isHurried = false
  #at = 0
  #preparations = 0
  #prepared: (() => void) | undefined
  readonly #plan: QueryPlan

  constructor(plan: QueryPlan, calls: readonly CallPlan[], ids: ReadonlySet<string>) {
    this.#plan = plan
    this.names = new CallNames(ids)
    this.#countListeners()
    if (plan.before === 'host aborted') this.host.abort('early')
    this.run = query({
      messages: 'go',
      tools: this.#toolsFor(calls),
      model: this.#model('main'),
      ...(plan.hasFallback && { fallbackModel: this.#model('fallback') }),
      retry: { attempts: plan.attempts, backoffMs },
      canUseTool: this.bodies.canUseTool,
      context: { abortController: this.host, marks: '', ...(plan.isHooked && { hooks }) },
      maxTurns: plan.maxTurns,
      ...(plan.limits && { limits: plan.limits }),
      toolExecution: plan.isBatch ? 'batch' : 'streaming',
      streamIdleMs: idleMs,
      ...((plan.prepares !== 'no' || plan.unprepared !== undefined) && { prepareMessages: this.#prepare }),
      executor: { clock: this.clock, abortGraceMs: graceMs, maxConcurrency: plan.maxConcurrency },
    })
    this.run.onExecutor(() => {
      this.bodies.attempt++
    })
    this.bodies.onStart = ({ id, marks }) => this.#see('starts', `${this.names.of(id)} with context ${marks}`)
    if (plan.before === 'abort') this.run.abort('early')
    if (plan.before === 'send') this.run.send('early')
  }

  get limits(): QueryPlan['limits'] {
    return this.#plan.limits
  }

  /** The stream that is open, if it may send its next event. */
  get stream(): HeldStream | undefined {
    const last = this.streams.at(-1)
    return (this.isHurried ? last?.isOver === false : last?.isAwaited) ? last : undefined
  }

  get isPreparing(): boolean {
    return this.#prepared !== undefined
  }

  read(): void {
    void this.#readOn()
  }

  do(entry: Entry): void {
    this.#at++
    const { run, stream, bodies } = this
    if (entry.is === 'tick') this.clock.increment(tickMs)
    else if (entry.is === 'aborts') run.abort(entry.reason)
    else if (entry.is === 'interrupts') run.interrupt()
    else if (entry.is === 'steers') run.interrupt(entry.text)
    else if (entry.is === 'sends') run.send(entry.text)
    else if (entry.is === 'host aborts') this.host.abort(entry.reason)
    else if (entry.is === 'leaves') this.#leave()
    else if (entry.is === 'prepared') this.#finishPreparing()
    else if (entry.is === 'answers') bodies.questions[entry.question]?.answer(entry.answer)
    else if (entry.is === 'body finishes') bodies.bodies[entry.body]?.finish(entry.modifies)
    else if (entry.is === 'body fails') bodies.bodies[entry.body]?.fail()
    else if (entry.is === 'body reports') bodies.bodies[entry.body]?.progress()
    else if (stream !== undefined) speak(stream, entry)
  }

  #see(where: keyof QueryUnderTest['seen'], what: string): void {
    this.seen[where].push(`${this.#at}: ${what}`)
  }

  async #readOn(): Promise<void> {
    for (;;) {
      const step = await this.run.next()
      if (step.done === true) return this.#end(step.value)
      this.yielded.push(step.value)
      const words = messageInWords(step.value, this.names)
      if (!this.hasLeft && words !== undefined) this.#see('yields', words)
    }
  }

  #leave(): void {
    this.hasLeft = true
    void this.run.return().then(({ value }) => this.#end(value as QueryResult))
  }

  #end(result: QueryResult): void {
    if (this.result !== undefined) return
    this.result = result
    const why = 'abortReason' in result ? ` (${reasonInWords(result.abortReason)})` : ''
    this.#see('yields', `ends: ${result.reason}${why}`)
  }

  #model(which: string): Model {
    const model: Model = (request) => {
      this.#noteRequest(which, request)
      const fails = this.#plan.openings[this.streams.length]
      const stream = new HeldStream(request, this.#plan.isDeaf)
      this.streams.push(stream)
      if (fails === undefined) return stream
      stream.end()
      throw errorOf(fails)
    }
    return Object.assign(model, { info: { name: which, maxOutputTokens: replyTokens } })
  }

  #noteRequest(which: string, { messages, signal }: ModelRequest): void {
    if (this.streams.some(({ isOver }) => !isOver)) this.faults.push('two requests at a time')
    if (signal.aborted) this.faults.push('a request that is aborted from the start')
    const problem = invalidity(messages)
    if (problem !== undefined) this.faults.push(`request ${this.streams.length + 1} is not valid: ${problem}`)
    const short = apiInShort(messages)
    this.#see(
      'requests',
      `${which} hears ${short.length} blocks up to: ${this.names.rename(short.at(-1) ?? 'nothing')}`,
    )
  }

  readonly #prepare = (messages: readonly Message[]): readonly Message[] | Promise<readonly Message[]> => {
    const fails = ++this.#preparations === this.#plan.unprepared
    const finish = (): readonly Message[] => {
      if (fails) throw new Error('not prepared')
      return messages
    }
    if (this.#plan.prepares !== 'later') return finish()
    return new Promise<void>((resolve) => {
      this.#prepared = resolve
    }).then(finish)
  }

  #finishPreparing(): void {
    this.#prepared?.()
    this.#prepared = undefined
  }

  #toolsFor(calls: readonly CallPlan[]): AnyTool[] {
    const byName = new Map(calls.map((plan) => [toolName(plan), plan]))
    return [...byName.values()].map((plan) => this.bodies.toolFor(plan))
  }

  #countListeners(): void {
    const { signal } = this.host
    const [add, remove] = [signal.addEventListener, signal.removeEventListener]
    const listening = new Set<unknown>()
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listening.add(given[1])
      this.hostListeners = listening.size
      add.apply(signal, given)
    }
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listening.delete(given[1])
      this.hostListeners = listening.size
      remove.apply(signal, given)
    }
  }
}

const reasonInWords = (reason: unknown): string => (reason instanceof Error ? 'no reason' : String(reason))

const hook = async (input: { hook_event_name: string; tool_input: unknown }) => {
  const wanted = (input.tool_input as { hook?: unknown }).hook
  const is = input.hook_event_name === 'PreToolUse' ? 'pre' : 'post'
  return wanted === is ? { continue: false, stopReason: 'enough' } : {}
}
const hooks = {
  PreToolUse: [{ hooks: [hook] }],
  PostToolUse: [{ hooks: [hook] }],
  PostToolUseFailure: [{ hooks: [hook] }],
}

/** The arguments of a call as the model writes them. */
export function argumentsOf(number: number, { fault, asks, hook: stops }: CallPlan): string {
  if (fault === 'array') return `[${number}]`
  const json = JSON.stringify({
    number,
    ...(asks && { asks }),
    ...(stops !== 'none' && { hook: stops }),
    ...(fault === 'invalid' && { size: 'wrong' }),
  })
  return fault === 'broken' ? json.slice(0, -2) : json
}

function speak(stream: HeldStream, entry: Entry): void {
  if (entry.is === 'opens text') {
    const { index, text, isThinking } = entry
    const type = isThinking ? 'thinking' : 'text'
    stream.send(
      { type: 'content_block_start', index, content_block: { type, [type]: '' } },
      { type: 'content_block_delta', index, delta: { type: `${type}_delta`, [type]: text } },
    )
  } else if (entry.is === 'opens call') {
    const { id, number, plan } = entry.call
    const name = plan.fault === 'unknown' ? unknownName : toolName(plan)
    stream.send(...callBlock(entry.index, id, name, argumentsOf(number, plan)).slice(0, -1))
  } else if (entry.is === 'closes') stream.send({ type: 'content_block_stop', index: entry.index })
  else if (entry.is === 'stray') stream.send(entry.event)
  else if (entry.is === 'announces') stream.send({ type: 'message_start', message: { id: entry.id } })
  else if (entry.is === 'stops') stream.send({ type: 'message_delta', delta: { stop_reason: entry.reason } })
  else if (entry.is === 'stream ends') stream.end()
  else if (entry.is === 'stream breaks') {
    const error = errorOf(entry.error)
    if (entry.asEvent) stream.send({ type: 'error', error: error.asEvent })
    else stream.fail(error)
  }
}
