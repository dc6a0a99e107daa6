import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition } from 'xstate'
import {
  type AbortCause,
  type CallRecord,
  callMachine,
  type Ending,
  type RunRecord,
  type StopCause,
  watchGuards,
} from '../../machines/index.ts'
import type { TakenMessage } from '../executor/events.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import { BooksWatch } from './books-watch.ts'
import { asText, CallFrames, standIn, whereabouts } from './call-frames.ts'
import { type ChartDefinition, chartOf, type KnownChart } from './chart-definition.ts'
import { diffValue } from './diff-value.ts'
import type { Encoded, EncodeLimits } from './encode-value.ts'
import type { Command, EncodedCause, FrameBody, GuardAnswer, QuestionsFrame } from './frame.ts'
import { ProgressWatch } from './progress-watch.ts'
import { type Redact, type Show, showWith } from './redact.ts'
import { activeStates, chartOfActor, sightingOf } from './xstate-view.ts'

/** What can be watched. An open question is one that the host has not answered yet. */
export type Inspectable = Pick<StreamingToolExecutor, 'actor' | 'on'> & {
  openQuestions?(): readonly { toolUseID: string; toolName: string; input: unknown }[]
}

export interface WatchOptions {
  readonly title: string
  /** The actor of a query that the executor works for. */
  readonly around?: AnyActorRef | undefined
  readonly redact?: Redact | undefined
  readonly limits?: EncodeLimits | undefined
  readonly now: () => number
}

interface Watched {
  readonly id: string
  readonly chart: KnownChart
  active: readonly number[]
  contextRef: unknown
  context: Encoded
  call: CallRecord | undefined
  refused: unknown
}

/** One executor under watch: what it does, as frames. */
export class RunWatch {
  readonly #executor: Inspectable
  readonly #write: (body: FrameBody) => void
  readonly #options: WatchOptions
  readonly #run: RunRecord
  readonly #books: BooksWatch
  readonly #show: Show
  readonly #actors = new Map<unknown, Watched>()
  readonly #charts = new Set<ChartDefinition>()
  readonly #calls: CallFrames
  readonly #progress: ProgressWatch
  readonly #leave: (() => void)[] = []
  #cause: StopCause | undefined
  #can = ''
  #questions = '[]'
  #isJobDue = false

  constructor(executor: Inspectable, write: (body: FrameBody) => void, options: WatchOptions) {
    this.#executor = executor
    this.#write = write
    this.#options = options
    this.#run = executor.actor.getSnapshot().context.run
    this.#books = new BooksWatch(this.#run)
    this.#show = showWith(options.redact, options.limits ?? {}, standIn)
    this.#calls = new CallFrames(this.#show)
    this.#progress = new ProgressWatch(write, this.#show, options.now)
  }

  attach(): void {
    for (const body of this.picture()) this.#write(body)
    const { actor } = this.#executor
    for (const system of new Set([actor.system, this.#options.around?.system ?? actor.system])) {
      const inspection = system.inspect((event) => this.#safely(() => this.#see(event)))
      this.#leave.push(
        () => inspection.unsubscribe(),
        watchGuards(system as never, (...look) => this.#safely(() => this.#seeGuards(...look))),
      )
    }
    this.#leave.push(
      this.#executor.on('message', (taken) => this.#safely(() => this.#seeMessage(taken))),
      this.#executor.on('warning', ({ code, message, toolUseID }) =>
        this.#safely(() => {
          const text = this.#show(message, { what: 'warning', ...(toolUseID !== undefined && { toolUseID }) })
          this.#write({ type: 'warning', call: toolUseID ?? null, code, message: asText(text) })
        }),
      ),
    )
    this.#later()
  }

  detach(): void {
    for (const leave of this.#leave.splice(0)) leave()
    this.#write({ type: 'left' })
  }

  /** Everything as it is now: what a new reader needs to follow from here. */
  picture(): FrameBody[] {
    const { actor } = this.#executor
    const { calls, maxConcurrency } = this.#run
    const limit = Number.isFinite(maxConcurrency) ? maxConcurrency : null
    const bodies: FrameBody[] = [
      {
        type: 'run',
        title: this.#options.title,
        isLate: calls.length > 0,
        maxConcurrency: limit,
        root: this.#idOf(actor),
      },
    ]
    this.#charts.clear()
    this.#actors.clear()
    bodies.push(...this.#pictureOf(actor))
    if (this.#options.around !== undefined) bodies.push(...this.#pictureOf(this.#options.around))
    bodies.push(...this.#chartFrame(chartOf(callMachine).definition))
    for (const call of calls) {
      if (call.ref !== undefined) bodies.push(...this.#pictureOf(call.ref))
      bodies.push(this.#calls.frameOf(call as ToolCall))
      const ending = endingOf(call.ref?.getSnapshot().context)
      if (ending !== undefined) bodies.push(endingFrame(call, ending))
    }
    bodies.push(this.#books.begin(), this.#canFrame(actor.getSnapshot()))
    this.#cause = actor.getSnapshot().context.cause
    if (this.#cause !== undefined) bodies.push(this.#abortFrame('executor', undefined, 'host', '', this.#cause))
    bodies.push(this.#questionsFrame())
    return bodies
  }

  #see(inspected: Parameters<typeof sightingOf>[0]): void {
    const sighting = sightingOf(inspected)
    if (sighting === undefined) return
    if (sighting.kind === 'actor') this.#seeActor(sighting.actor)
    else if (sighting.kind === 'event') this.#seeEvent(sighting.actor, sighting.from, sighting.event)
    else this.#seeStep(sighting.actor, sighting.event, sighting.snapshot, sighting.transitions)
  }

  #seeActor(actor: AnyActorRef): void {
    const chart = chartOfActor(actor)
    if (chart === undefined) return
    for (const body of this.#chartFrame(chart.definition)) this.#write(body)
    this.#watch(actor, chart, chart.initial)
    this.#write(this.#actorFrame(actor, chart, chart.initial, {}))
  }

  #seeEvent(actor: AnyActorRef, from: AnyActorRef | undefined, event: AnyEventObject): void {
    const { type, ...rest } = event
    const call = this.#actors.get(actor)?.call
    const data = Object.keys(rest).length === 0 ? {} : this.#show(rest, { what: 'event', ...whereabouts(call) })
    this.#write({
      type: 'event',
      from: from === undefined ? null : this.#idOf(from),
      to: this.#idOf(actor),
      event: type,
      data,
    })
    const { cause } = rest as { cause?: StopCause }
    if (call !== undefined && cause !== undefined) {
      this.#write(this.#abortFrame('call', call, from === undefined ? 'call' : 'executor', type, cause))
    }
  }

  #seeGuards(
    actor: AnyActorRef,
    event: AnyEventObject,
    regions: readonly (readonly AnyTransitionDefinition[])[],
    taken: readonly AnyTransitionDefinition[],
  ): void {
    const watched = this.#actors.get(actor)
    if (watched === undefined || !regions.some((region) => region.some(({ guard }) => guard !== undefined))) return
    const { chart } = watched
    // asked after every step; a no that was told already tells nothing new
    if (taken.length > 0) watched.refused = undefined
    else if (regions === watched.refused) return
    else if (regions[0]?.[0]?.eventType === '') watched.refused = regions
    const candidates = regions.flatMap((region) => {
      const at = region.findIndex((each) => taken.includes(each))
      return region.map((transition, index): [number, GuardAnswer] => [
        chart.transitionId(transition) ?? -1,
        at < 0 || index < at ? 'failed' : index === at ? 'passed' : 'notAsked',
      ])
    })
    this.#write({ type: 'guards', actor: watched.id, event: event.type, candidates })
  }

  #seeStep(
    actor: AnyActorRef,
    event: AnyEventObject,
    snapshot: AnyMachineSnapshot,
    transitions: readonly AnyTransitionDefinition[],
  ): void {
    const watched = this.#actors.get(actor)
    if (watched === undefined) return
    const active = activeStates(snapshot)
    const isMoved = active !== watched.active
    const endedBefore = endingOf(watched.contextRef)
    const patch = this.#contextPatch(watched, snapshot)
    if (transitions.length === 0 && !isMoved && patch === undefined) return
    watched.active = active
    const isDone = snapshot.status === 'done'
    this.#write({
      type: 'step',
      actor: watched.id,
      event: event.type,
      transitions: transitions.map((each) => watched.chart.transitionId(each) ?? -1),
      ...(isMoved && { active }),
      ...(patch !== undefined && { context: patch }),
      ...(isDone && { isDone: true }),
    })
    if (isDone) this.#actors.delete(actor)
    const ending = endingOf(snapshot.context)
    if (watched.call !== undefined && ending !== undefined && ending !== endedBefore) {
      this.#write(endingFrame(watched.call, ending))
    }
    if (actor === (this.#executor.actor as AnyActorRef)) this.#afterExecutorStep(event, snapshot, isMoved)
    else this.#later()
  }

  #contextPatch(watched: Watched, { context }: AnyMachineSnapshot): ReturnType<typeof diffValue> {
    if (context === watched.contextRef) return undefined
    const { call } = context as { call?: CallRecord }
    watched.call = call
    watched.contextRef = context
    const encoded = this.#show(context, { what: 'context', ...whereabouts(call) })
    const patch = diffValue(watched.context, encoded)
    watched.context = encoded
    return patch
  }

  #afterExecutorStep(event: AnyEventObject, snapshot: AnyMachineSnapshot, isMoved: boolean): void {
    const { cause } = snapshot.context as { cause?: AbortCause }
    const { call, by } = event as { call?: CallRecord; by?: CallRecord }
    const isAborted = cause !== this.#cause
    if (isAborted && cause !== undefined) {
      this.#cause = cause
      this.#write(this.#abortFrame('executor', by, by === undefined ? 'host' : 'call', event.type, cause))
    }
    // only when it is in the books can its place be told
    if (call !== undefined && call.index >= 0 && !this.#calls.has(call)) {
      this.#write(this.#calls.frameOf(call as ToolCall))
      this.#meet(call)
      this.#later()
    }
    const books = this.#books.change(call, isAborted)
    if (books !== undefined) this.#write(books)
    if (isMoved) {
      const before = this.#can
      const can = this.#canFrame(snapshot)
      if (before !== this.#can) this.#write(can)
    }
  }

  /** Only now is it known whose actor it is, and what it remembers from its start. */
  #meet({ ref }: CallRecord): void {
    const watched = this.#actors.get(ref)
    const context = watched && ref && this.#contextPatch(watched, ref.getSnapshot() as AnyMachineSnapshot)
    if (context === undefined) return
    this.#write({ type: 'step', actor: watched?.id ?? '', event: 'xstate.init', transitions: [], context })
  }

  #seeMessage({ message, toolUseID }: TakenMessage): void {
    const where = this.#calls.whereabouts(toolUseID)
    if (message.type === 'progress') return this.#progress.see(toolUseID, message.data, where)
    this.#progress.flush(toolUseID, where)
    const block =
      message.type === 'user' && typeof message.message.content !== 'string' ? message.message.content[0] : undefined
    const isResult = block?.type === 'tool_result'
    this.#write({
      type: 'result',
      call: toolUseID,
      message: isResult ? 'tool_result' : message.type,
      isError: isResult && block.is_error === true,
      content: this.#show(isResult ? block.content : message, { what: 'result', ...where }),
    })
  }

  #chartFrame(chart: ChartDefinition): FrameBody[] {
    if (this.#charts.has(chart)) return []
    this.#charts.add(chart)
    return [{ type: 'chart', chart }]
  }

  #pictureOf(actor: AnyActorRef): FrameBody[] {
    const chart = chartOfActor(actor)
    if (chart === undefined) return []
    const snapshot = actor.getSnapshot() as AnyMachineSnapshot
    const active = activeStates(snapshot)
    const watched = this.#watch(actor, chart, active)
    this.#contextPatch(watched, snapshot)
    const frame = this.#actorFrame(actor, chart, active, watched.context)
    if (snapshot.status !== 'active') this.#actors.delete(actor)
    return [...this.#chartFrame(chart.definition), frame]
  }

  #watch(actor: AnyActorRef, chart: KnownChart, active: readonly number[]): Watched {
    const watched: Watched = {
      id: this.#idOf(actor),
      chart,
      active,
      contextRef: undefined,
      context: {},
      call: undefined,
      refused: undefined,
    }
    this.#actors.set(actor, watched)
    return watched
  }

  #actorFrame(actor: AnyActorRef, chart: KnownChart, active: readonly number[], context: Encoded): FrameBody {
    const parent = actor._parent === undefined ? null : this.#idOf(actor._parent)
    return { type: 'actor', actor: this.#idOf(actor), chart: chart.definition.id, parent, active, context }
  }

  #abortFrame(
    layer: 'executor' | 'call',
    call: CallRecord | undefined,
    from: 'host' | 'executor' | 'call',
    event: string,
    { kind, reason, ...rest }: StopCause,
  ): FrameBody {
    const cause: EncodedCause = {
      kind,
      reason: this.#show(reason, { what: 'reason' }),
      ...('description' in rest &&
        rest.description !== undefined && {
          description: asText(this.#show(rest.description, { what: 'label' })),
        }),
    }
    return { type: 'abort', layer, call: call?.id ?? null, from, event, cause }
  }

  /** Each system counts its actors from the same number. */
  #idOf({ sessionId, system }: AnyActorRef): string {
    return system === this.#executor.actor.system ? sessionId : `around:${sessionId}`
  }

  #canFrame(snapshot: AnyMachineSnapshot): FrameBody {
    const isOver = snapshot.status !== 'active'
    const commands = isOver ? [] : probes.filter(({ event }) => snapshot.can(event)).map(({ command }) => command)
    this.#can = commands.join()
    return { type: 'can', commands }
  }

  #questionsFrame(): QuestionsFrame {
    const open = (this.#executor.openQuestions?.() ?? []).map(({ toolUseID, toolName, input }) => ({
      call: toolUseID,
      name: toolName,
      input: this.#show(input, { what: 'question', toolUseID, toolName }),
    }))
    this.#questions = JSON.stringify(open.map(({ call }) => call))
    return { type: 'questions', open }
  }

  /** Once the charts are at rest: what user code has a part in, and what the steps led to. */
  #later(): void {
    if (this.#isJobDue) return
    this.#isJobDue = true
    queueMicrotask(() => {
      this.#isJobDue = false
      if (this.#leave.length > 0) this.#safely(() => this.#catchUp())
    })
  }

  #catchUp(): void {
    for (const body of this.#calls.askForLabels()) this.#write(body)
    const before = this.#questions
    const questions = this.#questionsFrame()
    if (before !== this.#questions) this.#write(questions)
  }

  /** An observer that throws would put the actor it watches into an error. */
  #safely(look: () => void): void {
    try {
      look()
    } catch {
      this.#write({ type: 'gap', because: 'recorder', lost: 1 })
    }
  }
}

/** Asked of the chart itself, so that nothing is offered that it would not take. */
const probes: readonly { command: Command; event: AnyEventObject }[] = [
  { command: 'interrupt', event: { type: 'abort.userInterrupted', reason: 'interrupt' } },
  { command: 'abort', event: { type: 'abort.userInterrupted', reason: 'inspector' } },
  { command: 'discard', event: { type: 'abort.streamingFallback' } },
]

const endingOf = (context: unknown): Ending | undefined => (context as { ending?: Ending } | undefined)?.ending

function endingFrame(call: CallRecord, ending: Ending): FrameBody {
  const { kind, reached } =
    ending.by === 'abort' ? { ...ending, kind: ending.cause.kind } : { kind: null, reached: null }
  return { type: 'ending', call: call.id, by: ending.by, kind, reached }
}
