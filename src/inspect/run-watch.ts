import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition } from 'xstate'
import {
  type AbortCause,
  type CallRecord,
  callChart,
  type RunRecord,
  type StopCause,
  watchGuards,
} from '../../machines/index.ts'
import type { ExecutorWarning, TakenMessage } from '../executor/events.ts'
import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import { ActorFrames } from './actor-frames.ts'
import { actorNames } from './actor-names.ts'
import { BooksWatch } from './books-watch.ts'
import { asText, CallFrames, standIn, whereabouts } from './call-frames.ts'
import { chartOf } from './chart-definition.ts'
import type { EncodeLimits } from './encode-value.ts'
import type { Command, FrameBody, QuestionsFrame } from './frame.ts'
import { abortFrame, endingFrame, endingOf, resultFrame } from './outcome-frames.ts'
import { ProgressWatch } from './progress-watch.ts'
import { type Redact, type Show, showWith } from './redact.ts'
import { takeableCommands } from './takeable-commands.ts'
import { sightingOf } from './xstate-view.ts'

/** What can be watched. An open question is one that the host has not answered yet. */
export type Inspectable = Pick<StreamingToolExecutor, 'actor' | 'on'> & {
  openQuestions?(): readonly { toolUseID: string; toolName: string; input: unknown }[]
}

export interface WatchOptions {
  readonly title: string
  /** The call that the executor works for. */
  readonly inside?: string | undefined
  /** The actor of a query that the executor works for. */
  readonly around?: AnyActorRef | undefined
  readonly redact?: Redact | undefined
  readonly limits?: EncodeLimits | undefined
  readonly actorId?: ((actor: AnyActorRef) => string) | undefined
  readonly now: () => number
  readonly progressGapMs: number
}

/** One executor under watch: what it does, as frames. */
export class RunWatch {
  readonly #executor: Inspectable
  readonly #write: (body: FrameBody) => void
  readonly #options: WatchOptions
  readonly #run: RunRecord
  readonly #books: BooksWatch
  readonly #show: Show
  readonly #actors: ActorFrames
  readonly #calls: CallFrames
  readonly #progress: ProgressWatch
  readonly #leave: (() => void)[] = []
  #cause: StopCause | undefined
  #can: readonly Command[] = []
  #questions = '[]'
  #isJobDue = false

  constructor(executor: Inspectable, write: (body: FrameBody) => void, options: WatchOptions) {
    this.#executor = executor
    this.#write = write
    this.#options = options
    this.#run = executor.actor.getSnapshot().context.run
    this.#books = new BooksWatch(this.#run)
    const nameOf = actorNames(executor.actor.system, options.actorId)
    this.#show = showWith(options.redact, options.limits ?? {}, standIn(nameOf))
    this.#actors = new ActorFrames(this.#show, nameOf)
    this.#calls = new CallFrames(this.#show, nameOf)
    this.#progress = new ProgressWatch(write, this.#show, options.now, options.progressGapMs)
  }

  attach(): void {
    for (const body of this.picture()) this.#write(body)
    const { actor } = this.#executor
    for (const system of new Set([actor.system, this.#options.around?.system ?? actor.system])) {
      const inspection = system.inspect((event) => this.#safely(() => this.#see(event)))
      this.#leave.push(
        () => inspection.unsubscribe(),
        watchGuards(system as never, (...look) => this.#safely(() => this.#tell(this.#actors.guards(...look)))),
      )
    }
    this.#leave.push(
      this.#executor.on('message', (taken) => this.#safely(() => this.#seeMessage(taken))),
      this.#executor.on('warning', (warning) => this.#safely(() => this.#seeWarning(warning))),
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
    const snapshot = actor.getSnapshot()
    const { title, around, inside } = this.#options
    const { calls, maxConcurrency: most } = this.#run
    this.#actors.clear()
    this.#cause = snapshot.context.cause
    this.#can = takeableCommands(snapshot)
    const maxConcurrency = Number.isFinite(most) ? most : null
    const arrival = { layer: 'executor', from: 'host', event: '' } as const
    return [
      {
        type: 'run',
        title,
        isLate: calls.length > 0,
        maxConcurrency,
        root: this.#actors.idOf(actor),
        ...(inside !== undefined && { inside }),
      },
      ...this.#actors.found(actor),
      ...(around === undefined ? [] : this.#actors.found(around)),
      // drawn before there is a call
      ...this.#actors.chart(chartOf(callChart()).definition),
      ...calls.flatMap((call) => this.#pictureOf(call as ToolCall)),
      this.#books.begin(),
      { type: 'can', commands: this.#can },
      ...(this.#cause === undefined ? [] : [abortFrame(this.#show, arrival, undefined, this.#cause)]),
      this.#questionsFrame(),
    ]
  }

  #pictureOf(call: ToolCall): FrameBody[] {
    const ending = endingOf(call.ref?.getSnapshot().context)
    return [
      ...(call.ref === undefined ? [] : this.#actors.found(call.ref)),
      this.#calls.frameOf(call),
      ...(ending === undefined ? [] : [endingFrame(call, ending)]),
    ]
  }

  #tell(...bodies: (FrameBody | undefined)[]): void {
    for (const body of bodies) if (body !== undefined) this.#write(body)
  }

  #see(inspected: Parameters<typeof sightingOf>[0]): void {
    const sighting = sightingOf(inspected)
    if (sighting === undefined) return
    if (sighting.kind === 'actor') this.#tell(...this.#actors.born(sighting.actor))
    else if (sighting.kind === 'event') this.#seeEvent(sighting.actor, sighting.from, sighting.event)
    else this.#seeStep(sighting.actor, sighting.event, sighting.snapshot, sighting.transitions)
  }

  #seeEvent(actor: AnyActorRef, from: AnyActorRef | undefined, event: AnyEventObject): void {
    const { type, ...rest } = event
    const call = this.#actors.get(actor)?.call
    const data = Object.keys(rest).length === 0 ? {} : this.#show(rest, { what: 'event', ...whereabouts(call) })
    const sender = from === undefined ? null : this.#actors.idOf(from)
    this.#write({ type: 'event', from: sender, to: this.#actors.idOf(actor), event: type, data })
    const { cause } = rest as { cause?: StopCause }
    if (call === undefined || cause === undefined) return
    const arrival = { layer: 'call', from: from === undefined ? 'call' : 'executor', event: type } as const
    this.#write(abortFrame(this.#show, arrival, call, cause))
  }

  #seeStep(
    actor: AnyActorRef,
    event: AnyEventObject,
    snapshot: AnyMachineSnapshot,
    transitions: readonly AnyTransitionDefinition[],
  ): void {
    const watched = this.#actors.get(actor)
    const endedBefore = endingOf(watched?.contextRef)
    const step = this.#actors.step(actor, event, snapshot, transitions)
    if (step === undefined) return
    this.#write(step)
    const ending = endingOf(snapshot.context)
    const isNew = ending !== undefined && ending !== endedBefore
    // one that is not in the books yet is told of with the rest of it
    if (isNew && watched?.call !== undefined && this.#calls.has(watched.call))
      this.#write(endingFrame(watched.call, ending))
    if (actor !== (this.#executor.actor as AnyActorRef)) return this.#later()
    this.#afterExecutorStep(event, snapshot)
    if (step.active !== undefined) this.#lookAtCommands(snapshot)
  }

  #afterExecutorStep(event: AnyEventObject, snapshot: AnyMachineSnapshot): void {
    const { cause } = snapshot.context as { cause?: AbortCause }
    const { call, by } = event as { call?: CallRecord; by?: CallRecord }
    const isAborted = cause !== this.#cause
    if (isAborted && cause !== undefined) {
      this.#cause = cause
      const arrival = { layer: 'executor', from: by === undefined ? 'host' : 'call', event: event.type } as const
      this.#write(abortFrame(this.#show, arrival, by, cause))
    }
    // only when it is in the books can its place be told
    if (call !== undefined && call.index >= 0 && !this.#calls.has(call)) this.#meet(call as ToolCall)
    this.#tell(this.#books.change(call, isAborted))
  }

  /** Only now is it known whose actor it is, what it remembers from its start, and whether it is over already. */
  #meet(call: ToolCall): void {
    this.#write(this.#calls.frameOf(call))
    const { ref } = call
    const watched = this.#actors.get(ref)
    const snapshot = ref?.getSnapshot() as AnyMachineSnapshot | undefined
    const context = watched && snapshot && this.#actors.contextPatch(watched, snapshot)
    if (watched !== undefined && context !== undefined) {
      this.#write({ type: 'step', actor: watched.id, event: 'xstate.init', transitions: [], context })
    }
    const ending = endingOf(snapshot?.context)
    if (ending !== undefined) this.#write(endingFrame(call, ending))
    this.#later()
  }

  #lookAtCommands(snapshot: AnyMachineSnapshot): void {
    const commands = takeableCommands(snapshot)
    if (commands.join() === this.#can.join()) return
    this.#can = commands
    this.#write({ type: 'can', commands })
  }

  #seeMessage({ message, toolUseID }: TakenMessage): void {
    const where = this.#calls.whereabouts(toolUseID)
    if (message.type === 'progress') return this.#progress.see(toolUseID, message.data, where)
    this.#progress.flush(toolUseID, where)
    this.#write(resultFrame(this.#show, toolUseID, message, where))
  }

  #seeWarning({ code, message, toolUseID }: ExecutorWarning): void {
    const text = this.#show(message, { what: 'warning', ...(toolUseID !== undefined && { toolUseID }) })
    this.#write({ type: 'warning', call: toolUseID ?? null, code, message: asText(text) })
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
    this.#tell(...this.#calls.askForLabels())
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
