import { describe, it } from 'vitest'
import { z } from 'zod'
import {
  type AnyTool,
  type CanUseTool,
  createAssistantMessage,
  type HookCallback,
  type PermissionAnswer,
  type Resources,
  StreamingToolExecutor,
  type ToolResult,
} from '../../src/index.ts'
import { randomFrom } from '../../src/testing/repeatable.ts'
import { flush, toolUse } from '../support/turn.ts'

const isFull = process.env.SIGNALBOX_FULL !== undefined
const runs = isFull ? 100_000 : 2_000
const firstSeed = Number(process.env.SIGNALBOX_SEED ?? (isFull ? Date.now() % 1e6 : 1))

interface Keys {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

type Input = Partial<Keys> & { readonly change?: Partial<Keys>; readonly ask?: boolean }

/** The rules in their own words: nothing here comes from the library. */
const covers = (key: string, other: string): boolean =>
  key === '*' || key === other || (key.endsWith('/') && other.startsWith(key))
const touches = (writes: readonly string[], uses: readonly string[]): boolean =>
  writes.some((key) => uses.some((other) => covers(key, other) || covers(other, key)))
const conflict = (one: Keys, other: Keys): boolean =>
  one.writes.includes('*') ||
  other.writes.includes('*') ||
  touches(one.writes, [...other.reads, ...other.writes]) ||
  touches(other.writes, one.reads)

interface ModelCall {
  readonly id: string
  readonly ask: boolean
  keys: Keys
  change: Keys | undefined
  state: 'held' | 'waiting' | 'hooked' | 'asking' | 'running' | 'over'
  isPermitted: boolean
}

const executes = ({ state }: ModelCall): boolean => state === 'hooked' || state === 'asking' || state === 'running'

/** The second model of a turn with keys, written from the text of K1 to K5 alone. */
class TurnModel {
  readonly calls: ModelCall[] = []
  readonly #places: number

  constructor(places: number) {
    this.#places = places
  }

  add(call: ModelCall): void {
    this.calls.push(call)
    this.settle()
  }

  /** Starts what may start, in the order asked; then hooks change inputs, in the order in which calls started. */
  settle(): void {
    for (;;) {
      const next = this.calls.find((call) => this.#mayStart(call))
      if (next !== undefined) next.state = 'hooked'
      else {
        const hooked = this.#started.find(({ state }) => state === 'hooked')
        if (hooked === undefined) return
        this.#goOn(hooked)
      }
      if (next !== undefined) this.#started.push(next)
    }
  }

  answer(call: ModelCall, isAllowed: boolean, change: Keys | undefined): void {
    if (!isAllowed) call.state = 'over'
    else {
      call.isPermitted = true
      call.state = this.#hasPlace && this.#goesOnWith(call, change) ? 'running' : 'waiting'
    }
    this.settle()
  }

  readonly #started: ModelCall[] = []

  #goOn(call: ModelCall): void {
    this.#started.splice(this.#started.indexOf(call), 1)
    const { change } = call
    call.change = undefined
    if (!this.#goesOnWith(call, change)) call.state = 'waiting'
    else call.state = call.ask && !call.isPermitted ? 'asking' : 'running'
  }

  /** Takes the new keys, and says whether they let the call go on. One that begins or ceases to need everything never does. */
  #goesOnWith(call: ModelCall, change: Keys | undefined): boolean {
    if (change === undefined) return true
    const wasAlone = call.keys.writes.includes('*')
    call.keys = change
    return wasAlone === change.writes.includes('*') && !this.#isBlocked(call)
  }

  get #hasPlace(): boolean {
    return this.calls.filter((call) => executes(call) && call.state !== 'asking').length < this.#places
  }

  #mayStart(call: ModelCall): boolean {
    return call.state === 'waiting' && this.#hasPlace && !this.#isBlocked(call)
  }

  #isBlocked(call: ModelCall): boolean {
    const at = this.calls.indexOf(call)
    return this.calls.some((other, index) => {
      if (other === call) return false
      if (executes(other)) return conflict(call.keys, other.keys)
      if (index > at) return false
      if (other.state === 'waiting') return conflict(call.keys, other.keys)
      if (other.state !== 'held') return false
      // only what it may write counts: nothing, if it writes nothing
      const { writes } = other.keys
      return writes.includes('*') || touches(writes, [...call.keys.reads, ...call.keys.writes])
    })
  }
}

function must(holds: boolean, rule: string, facts: () => unknown): void {
  if (!holds) throw new Error(`${rule}: ${JSON.stringify(facts())}`)
}

const everyKey = ['f:a', 'f:b', 'f:d/', 'f:d/x', 'f:d/y', 'g:a']

/** One random turn on the real executor, beside the model. */
class RandomTurn {
  readonly story: unknown[] = []
  readonly #random: () => number
  readonly #model: TurnModel
  readonly #executor: StreamingToolExecutor
  readonly #bodies = new Map<string, (result: ToolResult) => void>()
  readonly #begun = new Set<string>()
  readonly #questions = new Map<string, (answer: PermissionAnswer) => void>()
  readonly #mayChange: boolean
  #results = 0

  constructor(seed: number) {
    this.#random = randomFrom(seed)
    // a call that goes back to the queue gives up its place, which the text leaves open: so either changes or few places
    this.#mayChange = this.#random() < 0.6
    const places = this.#mayChange ? 20 : 1 + Math.floor(this.#random() * 3)
    this.#model = new TurnModel(places)
    const change: HookCallback = async ({ tool_input }) => {
      const { change: updated, ...input } = tool_input as Input
      if (updated === undefined) return {}
      return {
        hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { ...input, change: undefined, ...updated } },
      }
    }
    const ask: CanUseTool = (_tool, input, _context, _message, id) =>
      (input as Input).ask === true ? new Promise((resolve) => this.#questions.set(id, resolve)) : { behavior: 'allow' }
    const hooks = { PreToolUse: [{ hooks: [change] }] }
    this.#executor = new StreamingToolExecutor(this.#tools(), ask, { hooks }, { maxConcurrency: places })
  }

  async play(): Promise<void> {
    for (let move = 0; move < 14; move++) await this.#move()
    const isAborted = this.#random() < 0.2
    if (isAborted) {
      this.#executor.abort('escape')
      for (const call of this.#model.calls) call.state = 'over'
    }
    // nobody starves: each step ends something, until nothing is left
    while (this.#model.calls.some(({ state }) => state !== 'over')) {
      const before = JSON.stringify(this.#model.calls)
      for (const call of [...this.#model.calls]) {
        if (call.state === 'running') await this.#finish(call)
        else if (call.state === 'held') await this.#release(call)
        else if (call.state === 'asking') await this.#answer(call)
      }
      must(JSON.stringify(this.#model.calls) !== before, 'no starvation', () => this.#model.calls)
    }
    await flush()
    for (const { message } of this.#executor.getCompletedResults()) if (message.type === 'user') this.#results++
    must(this.#results === this.#model.calls.length, 'one result per call', () => this.#results)
  }

  async #move(): Promise<void> {
    const { calls } = this.#model
    const pick = (state: ModelCall['state']) => {
      const found = calls.filter((call) => call.state === state)
      return found[Math.floor(this.#random() * found.length)]
    }
    const dice = this.#random()
    const [running, asking, held] = [pick('running'), pick('asking'), pick('held')]
    if (dice < 0.25 && running !== undefined) await this.#finish(running)
    else if (dice < 0.4 && asking !== undefined) await this.#answer(asking)
    else if (dice < 0.5 && held !== undefined) await this.#release(held)
    else if (calls.length < 8) await this.#add()
    this.#check()
  }

  async #add(): Promise<void> {
    const id = `c${this.#model.calls.length}`
    const kind = this.#random()
    const name = kind < 0.8 ? 'Keyed' : kind < 0.9 ? 'Safe' : 'Unsafe'
    const given = this.#keys()
    const keys =
      name === 'Keyed' ? given : name === 'Safe' ? { reads: ['*'], writes: [] } : { reads: [], writes: ['*'] }
    const change = name === 'Keyed' && this.#mayChange && this.#random() < 0.3 ? this.#keys() : undefined
    const ask = this.#random() < 0.25
    const isHeld = this.#random() < 0.2
    this.story.push({ id, name, keys, change, ask, isHeld })
    const isSame = change !== undefined && JSON.stringify(sorted(change)) === JSON.stringify(sorted(keys))
    const input: Input = { ...given, ask, ...(change !== undefined && { change }) }
    this.#executor.addTool(toolUse(id, name, input), createAssistantMessage([]), { hold: isHeld })
    this.#model.add({
      id,
      ask,
      keys,
      change: isSame ? undefined : change,
      state: isHeld ? 'held' : 'waiting',
      isPermitted: false,
    })
    await flush()
  }

  async #finish(call: ModelCall): Promise<void> {
    this.story.push(`finish ${call.id}`)
    call.state = 'over'
    this.#bodies.get(call.id)?.({ data: call.id })
    this.#model.settle()
    await flush()
    this.#check()
  }

  async #answer(call: ModelCall): Promise<void> {
    const isAllowed = this.#random() < 0.8
    const change =
      isAllowed && this.#mayChange && call.keys.reads[0] !== '*' && this.#random() < 0.3 ? this.#keys() : undefined
    const isKeyed =
      (this.story.find((each) => (each as { id?: string }).id === call.id) as { name: string }).name === 'Keyed'
    const updated = isKeyed ? change : undefined
    this.story.push({ answer: call.id, isAllowed, updated })
    const isSame = updated !== undefined && JSON.stringify(sorted(updated)) === JSON.stringify(sorted(call.keys))
    this.#questions.get(call.id)?.(
      isAllowed
        ? { behavior: 'allow', ...(updated !== undefined && { updatedInput: { ...updated, ask: true } }) }
        : { behavior: 'deny', message: 'no' },
    )
    this.#model.answer(call, isAllowed, isSame ? undefined : updated)
    await flush()
    this.#check()
  }

  async #release(call: ModelCall): Promise<void> {
    this.story.push(`release ${call.id}`)
    call.state = 'waiting'
    this.#executor.release(call.id)
    this.#model.settle()
    await flush()
    this.#check()
  }

  #check(): void {
    const { calls } = this.#model
    const running = calls.filter(({ state }) => state === 'running')
    for (const one of running) {
      for (const other of running) {
        if (one !== other) must(!conflict(one.keys, other.keys), 'no two that conflict', () => [one, other])
      }
    }
    const bodies = [...this.#begun].filter((id) => this.#bodies.has(id) && this.#state(id) !== 'over').sort()
    const expected = running.map(({ id }) => id).sort()
    must(String(bodies) === String(expected), 'exactly those run that may', () => ({ bodies, expected, calls }))
    const asked = this.#executor
      .openQuestions()
      .map(({ toolUseID }) => toolUseID)
      .sort()
    const asking = calls.flatMap(({ id, state }) => (state === 'asking' ? [id] : [])).sort()
    must(String(asked) === String(asking), 'exactly those are asked about', () => ({ asked, asking, calls }))
    for (const { id, state } of calls) {
      if (state !== 'waiting') continue
      const said = this.#executor.explain(id)
      must(said?.ok === false && (said.because === 'full' || said.blockers.length > 0), 'it is said why', () => [
        id,
        said,
      ])
    }
  }

  #state(id: string): string | undefined {
    return this.#model.calls.find((call) => call.id === id)?.state
  }

  #keys(): Keys {
    const some = (): string[] => [...new Set(everyKey.filter(() => this.#random() < 0.15))]
    const all = this.#random()
    return { reads: all < 0.05 ? ['*'] : some(), writes: all > 0.95 ? ['*'] : some() }
  }

  #tools(): AnyTool[] {
    const tool = (name: string, more: Partial<AnyTool>): AnyTool => ({
      name,
      inputSchema: z.looseObject({}),
      call: (_input, { toolUseID, abortController }) =>
        new Promise<ToolResult>((resolve, reject) => {
          this.#begun.add(toolUseID)
          this.#bodies.set(toolUseID, resolve)
          abortController.signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
        }),
      ...more,
    })
    return [
      tool('Keyed', { resources: ({ reads, writes }) => ({ reads, writes }) as Resources }),
      tool('Safe', { isConcurrencySafe: () => true }),
      tool('Unsafe', {}),
    ]
  }
}

const sorted = ({ reads, writes }: Keys): unknown => [[...reads].sort(), [...writes].sort()]

describe('turns with keys beside a second model', () => {
  it(`K2 K3 K4 K5 K7 in ${runs} random turns no conflict overlaps, overtaking is exact, nobody starves`, async () => {
    for (let run = 0; run < runs; run++) {
      const seed = firstSeed + run
      const turn = new RandomTurn(seed)
      try {
        await turn.play()
      } catch (error) {
        throw new Error(`seed ${seed}: ${JSON.stringify(turn.story)}`, { cause: error })
      }
    }
  }, 3_600_000)
})
