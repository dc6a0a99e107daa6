import {
  type CanUseTool,
  createAssistantMessage,
  type MessageUpdate,
  type Query,
  query,
  StreamingToolExecutor,
} from 'signalbox'
import { type ScriptItem, scriptedModel } from 'signalbox/scripted'
import { openPageFeed } from '../src/feed/page-feed.ts'
import type { Store } from '../src/store.ts'
import { Bodies } from './bodies.ts'
import { keepReading } from './keep-reading.ts'
import { type PlannedCall, plannedCall, type ToolName, toolHabits } from './planned-call.ts'
import { PlayClock } from './play-clock.ts'
import { inputOf, playTools } from './play-tools.ts'
import { type Scenario, scenarios } from './scenarios.ts'

/** A running scenario: the library as a host would use it, on the page's clock. */
export class Play {
  readonly #store: Store
  scenario: Scenario = scenarios[0] as Scenario
  calls: PlannedCall[] = []
  clock = new PlayClock()
  /** The executor of the current attempt. */
  executor: StreamingToolExecutor | undefined
  query: Query | undefined
  /** Every message that was handed over. */
  results: MessageUpdate['message'][] = []
  isDiscarded = false
  #bodies = new Bodies(this.clock)
  #read = (): void => undefined

  constructor(store: Store) {
    this.#store = store
  }

  choose(scenario: Scenario): void {
    this.scenario = scenario
    this.calls = scenario.calls.map(plannedCall)
    this.restart()
  }

  /** Restarts with the same calls and their current settings. */
  restart(): void {
    const { speed, isPaused } = this.clock
    this.end()
    for (const call of this.calls) call.isSent = false
    this.clock = new PlayClock(speed, isPaused)
    this.#bodies = new Bodies(this.clock)
    this.results = []
    this.isDiscarded = false
    const { clock } = this
    const feed = openPageFeed(this.#store, { commands: ['answer'], now: () => clock.now() })
    this.#store.feed = feed
    this.#store.clock = () => clock.shown()
    if (this.scenario.breaksOffAt === undefined) this.#stream()
    else this.#converse(this.scenario.breaksOffAt)
    if (this.query !== undefined) {
      feed.add(this.query, 'attempt')
      void this.#readQuery(this.query)
    } else if (this.executor !== undefined) feed.add(this.executor, this.scenario.title)
    const { interruptAt } = this.scenario
    if (interruptAt !== undefined) clock.setTimeout(() => this.executor?.abort('interrupt'), interruptAt)
  }

  end(): void {
    this.#store.feed?.close()
    if (this.query === undefined) this.executor?.discard()
    else this.query.abort('restarted')
    this.executor = undefined
    this.query = undefined
    this.clock.stop()
  }

  /** The model requests one more call now. */
  add(tool: ToolName): void {
    this.clock.catchUp()
    const taken = this.calls.filter((call) => call.tool === tool).map(({ about }) => about)
    const about = toolHabits[tool].about.find((each) => !taken.includes(each)) ?? `number ${taken.length + 1}`
    const call = plannedCall({ tool, about, at: this.clock.now() }, this.calls.length)
    this.calls.push(call)
    this.#send(call)
  }

  interrupt(): void {
    this.clock.catchUp()
    if (this.query !== undefined) this.query.interrupt()
    else this.executor?.abort('interrupt')
    this.#changed()
  }

  abort(): void {
    this.clock.catchUp()
    if (this.query !== undefined) this.query.abort('escape')
    else this.executor?.abort('escape')
    this.#changed()
  }

  discard(): void {
    this.clock.catchUp()
    this.executor?.discard()
    this.isDiscarded = true
    this.#changed()
  }

  fail(id: string): void {
    this.clock.catchUp()
    this.#bodies.fail(id)
    this.#changed()
  }

  isRunning(id: string): boolean {
    return this.#bodies.isRunning(id)
  }

  change(call: PlannedCall, to: Partial<Pick<PlannedCall, 'ms' | 'isSafe' | 'fails'>>): void {
    this.clock.catchUp()
    Object.assign(call, to)
    if (to.ms !== undefined) this.#bodies.lengthChanged(call.id)
    this.#changed()
  }

  time(to: { speed?: number; isPaused?: boolean }): void {
    this.clock.change(to)
    this.#changed()
  }

  step(): void {
    this.clock.step()
    this.#changed()
  }

  #stream(): void {
    const executor = new StreamingToolExecutor(this.#tools(), this.#canUseTool, {}, { clock: this.clock })
    this.executor = executor
    this.#read = keepReading(executor, (message) => {
      if (executor === this.executor && message.type !== 'progress') this.results.push(message)
    })
    // calls that were added by hand are added again at the same time
    for (const call of this.calls) this.clock.setTimeout(() => this.#send(call), call.at)
  }

  #send(call: PlannedCall): void {
    const { executor } = this
    if (executor === undefined) return
    call.isSent = true
    const block = { type: 'tool_use', id: call.id, name: call.tool, input: inputOf(call) } as const
    executor.addTool(block, createAssistantMessage([block]))
    this.#changed()
    this.#read()
  }

  #converse(breaksOffAt: number): void {
    const { clock } = this
    const overloaded = Object.assign(new Error('Overloaded'), { status: 529 })
    this.query = query({
      messages: 'Fix it.',
      tools: this.#tools(),
      model: scriptedModel([() => this.#script(1, { at: breaksOffAt, item: { error: overloaded } })], { clock }),
      fallbackModel: scriptedModel([() => this.#script(2)], { clock }),
      maxTurns: 1,
      retry: { attempts: 0 },
      canUseTool: this.#canUseTool,
      executor: { clock },
    })
    this.query.onExecutor((executor) => {
      this.executor = executor
    })
  }

  async #readQuery(run: Query): Promise<void> {
    for await (const message of run) {
      if (run !== this.query) continue
      if (message.type === 'user') this.results.push(message)
      this.#changed()
    }
  }

  /** The calls of one attempt, as a model streams them. */
  #script(attempt: 1 | 2, end?: { at: number; item: ScriptItem }): ScriptItem[] {
    let time = 0
    const until = (at: number): ScriptItem[] => {
      const wait = at - time
      time = Math.max(time, at)
      return wait > 0 ? [{ wait }] : []
    }
    const calls = this.calls.filter((call) => call.attempt === attempt)
    return [
      ...calls.flatMap((call) => [...until(call.at), { call: call.tool, id: call.id, input: inputOf(call) }]),
      ...(end === undefined ? [] : [...until(end.at), end.item]),
    ]
  }

  readonly #tools = () => playTools(this.#bodies, (id) => this.#find(id))

  /** Questions wait for the answer in the page. */
  readonly #canUseTool: CanUseTool = (_tool, _input, _context, _message, id) =>
    this.#find(id).asks ? new Promise(() => undefined) : { behavior: 'allow' }

  #find(id: string): PlannedCall {
    return this.calls.find((call) => call.id === id) as PlannedCall
  }

  #changed(): void {
    this.#store.set({})
  }
}
