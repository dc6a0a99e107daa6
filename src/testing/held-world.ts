import { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import { createAssistantMessage } from '../messages/create-messages.ts'
import type { PermissionSettings } from '../permission/permission-settings.ts'
import { allowAllTools } from '../tool/permission.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { countListeners } from './count-listeners.ts'
import { EvidenceBook } from './evidence-book.ts'
import { fingerprintOf } from './fingerprint.ts'
import { HeldBodies, type HeldBody } from './held-bodies.ts'
import { HeldPhases } from './held-phases.ts'
import { type Breach, breachesOf, type Invariant } from './invariant.ts'
import { turnInvariants } from './invariants.ts'
import { type Moves, movesOf } from './moves.ts'
import { never, type PlayableWorld } from './playable-world.ts'
import { countedIdsAndTime } from './repeatable.ts'
import { roadInvariants } from './road-invariants.ts'
import { type SimulatedClock, simulatedClock } from './simulated-clock.ts'
import { idOf, type TurnSetup } from './turn-setup.ts'
import { explainWaits, keepBook } from './watch-invariants.ts'
import { worldInvariants } from './world-invariants.ts'

/** A turn on the real executor, in a world where only the story makes things happen. */
export class HeldWorld implements PlayableWorld {
  readonly setup: TurnSetup
  readonly executor: StreamingToolExecutor
  readonly clock: SimulatedClock = simulatedClock()
  readonly host = new AbortController()
  readonly bodies: HeldBodies
  readonly phases: HeldPhases
  readonly book: EvidenceBook
  arrived = 0
  /** Readers that wait for the remaining results. */
  readers: AsyncGenerator<unknown, void, undefined>[] = []
  wasStoppedByHost = false
  /** The calls whose context modifiers were applied, in order. */
  readonly modified: string[] = []
  /** How many times each body may report progress. */
  maxReports = 1
  readonly #invariants: readonly Invariant[]
  readonly #reply
  readonly graceMs: number
  #inProgress: ReadonlySet<string> = new Set()
  #isInterruptible = false
  readonly #listeners: () => number

  constructor(setup: TurnSetup) {
    this.setup = setup
    const { options = {}, context = {}, phases = 'bodies', tools, invariants = turnInvariants } = setup
    this.graceMs = options.abortGraceMs ?? 5_000
    this.#listeners = countListeners(this.host.signal)
    const idsAndTime = countedIdsAndTime(this.clock)
    this.book = new EvidenceBook(options.maxConcurrency ?? 10)
    this.bodies = new HeldBodies(tools, this.book, this.clock, this.graceMs)
    this.phases = new HeldPhases(this.book, setup.happenings?.rewrite)
    const held = phases === 'all' ? this.bodies.tools.map((tool) => this.phases.toolOf(tool)) : this.bodies.tools
    this.executor = new StreamingToolExecutor(
      held,
      phases === 'all' ? this.phases.canUseTool : allowAllTools,
      {
        ...context,
        ...(phases === 'all' && { hooks: this.phases.hooks }),
        abortController: this.host,
        setInProgressToolUseIDs: (update) => {
          this.#inProgress = update(new Set(this.#inProgress))
        },
        setHasInterruptibleToolInProgress: (is) => {
          this.#isInterruptible = is
        },
      },
      {
        ...(setup.happenings?.long === true && { resultStore: this.phases.store }),
        ...options,
        clock: this.clock,
        uuid: idsAndTime.uuid,
      },
    )
    keepBook(this.executor, this.book)
    this.#reply = createAssistantMessage([], { id: 'reply' }, idsAndTime)
    const toolByName = new Map(held.map((tool) => [tool.name, tool]))
    this.#invariants = [
      ...invariants,
      ...roadInvariants({
        bodies: this.bodies.byId,
        phases: this.phases,
        plannedInput: (id) => this.#planned(id),
        toolOf: ({ name }) => toolByName.get(name),
        rules: phases === 'all' ? (context.permissions as PermissionSettings | undefined) : undefined,
        modified: this.modified,
      }),
      ...worldInvariants({
        bodies: this.bodies.byId,
        toolOf: ({ name }) => toolByName.get(name),
        graceMs: this.graceMs,
        now: () => this.clock.now(),
        areBodiesHeld: !this.bodies.isReal,
        inProgress: () => this.#inProgress,
        isInterruptible: () => this.#isInterruptible,
        hostReason: () => this.host.signal.reason,
        unreadOf: (id) =>
          this.executor.actor.getSnapshot().context.run.calls.find((call) => call.id === id)?.port.unread ?? 0,
        wasStoppedByHost: () => this.wasStoppedByHost,
      }),
    ]
    if (setup.arrival === 'together') while (this.arrived < setup.calls.length) this.arrive()
  }

  /** The model asks for the next call. */
  arrive(): void {
    const call = this.setup.calls[this.arrived]
    if (call === undefined) return
    const id = idOf(call, this.arrived++)
    const block = { type: 'tool_use' as const, id, name: call.tool, input: call.input ?? {} }
    this.#reply.message.content.push(block)
    this.executor.addTool(block, this.#reply, { hold: call.hold })
  }

  /** All calls were added and the turn is over. */
  get isAtEnd(): boolean {
    if (this.book.run === 'discarded') return !this.book.calls.some(({ phase }) => phase.startsWith('executing'))
    return this.book.isOver && this.arrived === this.setup.calls.length
  }

  /** A message is ready that nobody has read. */
  get hasNews(): boolean {
    const { calls } = this.book
    return (
      calls.find(({ phase }) => phase !== 'yielded')?.phase === 'completed' ||
      calls.some(({ body, progressRead, progressDropped }) => (body?.reported ?? 0) > progressRead + progressDropped)
    )
  }

  take(): void {
    let taken = 0
    for (const _ of this.executor.getCompletedResults()) {
      if (++taken > maxTaken) throw new Error('the results do not end')
    }
  }

  /** Adds a reader that waits for the remaining results. */
  read(): void {
    const reader = this.executor.getRemainingResults()
    this.readers.push(reader)
    const follow = async (): Promise<void> => {
      for await (const _ of reader) if (this.book.messages.length > maxTaken) break
      this.readers = this.readers.filter((each) => each !== reader)
    }
    void follow()
  }

  /** Finishes with a context modifier, and records when the modifier is applied. */
  finishWithModifier(body: HeldBody): void {
    body.modifies = true
    const contextModifier = (context: ToolUseContext): ToolUseContext => {
      this.modified.push(body.id)
      return { ...context }
    }
    body.finish({ contextModifier })
  }

  leave(): void {
    void this.readers.shift()?.return()
  }

  /** A call's body may have started before the call was seen. */
  catchUp(): void {
    for (const call of this.book.calls) call.body = this.bodies.byId.get(call.id)
  }

  breaches(): Breach[] {
    const { book } = this
    this.catchUp()
    explainWaits(this.executor, book)
    book.leftovers = book.isOver ? this.#leftovers() : []
    return breachesOf(book, this.#invariants)
  }

  moves(): Moves {
    return movesOf(this)
  }

  fingerprint(): string {
    return fingerprintOf(this)
  }

  judge(): Breach[] {
    const breaches = this.breaches()
    const isDone = breaches.length === 0 && this.isAtEnd && this.book.run !== 'discarded'
    if (!isDone || this.arrived === 0) return breaches
    try {
      this.setup.atEnd?.(this.book)
      return []
    } catch (error) {
      return [{ invariant: 'at the end', problem: error instanceof Error ? error.message : String(error) }]
    }
  }

  rankOf(move: string): number {
    if (this.bodies.points.some(({ name }) => name === move)) return whereBodiesWait
    const at = endings.findIndex((ending) => ending.test(move))
    return at < 0 ? never : at
  }

  #planned(id: string): unknown {
    const at = this.setup.calls.findIndex((call, index) => idOf(call, index) === id)
    return this.setup.calls[at]?.input ?? {}
  }

  #leftovers(): string[] {
    return [
      ...(this.clock.pending > 0 ? [`${this.clock.pending} timers are still pending`] : []),
      ...(this.#listeners() > 0 ? [`${this.#listeners()} listeners are still on the host's signal`] : []),
    ]
  }
}

/** Moves that lead to the end of a turn, most direct first. */
const endings = [
  / arrives$/,
  / is released$/,
  /(is accepted|passes|allows|saves)$/,
  / finishes$/,
  /^results are taken$/,
  /^time passes$/,
  /^the reader leaves$/,
]
const whereBodiesWait = 3

/** A broken cursor must not hang a test. */
const maxTaken = 200_000
