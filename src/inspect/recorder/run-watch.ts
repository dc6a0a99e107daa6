import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition } from 'xstate'
import {
  type AbortCause,
  backgroundChart,
  type CallRecord,
  callChart,
  type ExecutorSchedule,
  type Reclassification,
  refusalOf,
  type StopCause,
} from '../../../machines/index.ts'
import type { BackgroundChange } from '../../background/background-call.ts'
import type { BackgroundCalls } from '../../background/background-calls.ts'
import { engineOf, tellsGuards } from '../../chart-engine/chart-engine.ts'
import type { GuardWatcher } from '../../chart-engine/guard-watch.ts'
import type { ExecutorWarning } from '../../executor/events.ts'
import type { StreamingToolExecutor } from '../../executor/streaming-tool-executor.ts'
import { placeOf } from '../../pipeline/body-link.ts'
import type { ToolCall } from '../../pipeline/tool-call.ts'
import { chartOf } from '../frames/chart-definition.ts'
import type { EncodeLimits } from '../frames/encode-value.ts'
import type { FrameBody, QuestionsFrame, Recovered } from '../frames/frame.ts'
import type { Redaction, Show } from '../frames/redact.ts'
import { ActorFrames, type Watched } from './actor-frames.ts'
import { asText, CallFrames, standIn, whereabouts } from './call-frames.ts'
import { CommandWatch } from './command-watch.ts'
import { type AskedQuestion, attemptFrame, decisionFrame, questionOf } from './consent-frames.ts'
import { LockWatch } from './lock-watch.ts'
import { MessageWatch } from './message-watch.ts'
import { abortFrame, endingFrame, endingOf, placeFrame } from './outcome-frames.ts'
import { reasonOf, ScheduleWatch, type ShowKey } from './schedule-watch.ts'
import { actorNames, sightingOf } from './xstate-view.ts'

/** A longer search at each step would slow the run that is watched. */
const maxLookedAt = 64

/** The part of an executor that the recorder needs. An open question is one that the host has not answered yet. */
export type Inspectable = Pick<StreamingToolExecutor, 'actor' | 'on'> & {
  openQuestions?(): readonly AskedQuestion[]
  /** The calls that its query has in the background. */
  readonly background?: Pick<BackgroundCalls, 'undelivered' | 'onChange'> | undefined
}

export interface WatchOptions {
  readonly title: string
  /** The call that a sub-agent's executor works for. */
  readonly parentToolUseID?: string | undefined
  readonly recovered?: Recovered | undefined
  /** It is the rest of the turn before it. */
  readonly isContinued?: boolean | undefined
  /** The actor of the query that owns the executor. */
  readonly queryActor?: AnyActorRef | undefined
  readonly redaction: Redaction
  readonly limits?: EncodeLimits | undefined
  readonly actorId?: ((actor: AnyActorRef) => string) | undefined
  readonly now: () => number
  readonly progressGapMs: number
}

/** The executor's own limits for an input. */
const wholeInput = { text: 1_000_000, nodes: 100_000, depth: 64 }

/** Watches one executor and turns what it does into frames. */
export class RunWatch {
  readonly #executor: Inspectable
  readonly #write: (body: FrameBody) => void
  readonly #options: WatchOptions
  readonly #run: ExecutorSchedule
  readonly #schedule: ScheduleWatch
  readonly #locks: LockWatch
  readonly #show: Show
  /** For permission questions: nobody can approve a truncated input. */
  readonly #showWhole: Show
  readonly #actors: ActorFrames
  readonly #calls: CallFrames
  readonly #commands: CommandWatch
  readonly #messages: MessageWatch
  readonly #leave: (() => void)[] = []
  #cause: StopCause | undefined
  #questions = '[]'
  #isJobDue = false

  constructor(executor: Inspectable, write: (body: FrameBody) => void, options: WatchOptions) {
    this.#executor = executor
    this.#write = write
    this.#options = options
    this.#run = executor.actor.getSnapshot().context.run
    const nameOf = actorNames(executor.actor.system, options.actorId)
    const { redaction, limits = {} } = options
    const showUpTo = (most: EncodeLimits): Show => redaction.show(most, standIn(nameOf))
    this.#show = showUpTo(limits)
    this.#showWhole = showUpTo(wholeInput)
    this.#actors = new ActorFrames(this.#show, nameOf)
    this.#calls = new CallFrames(this.#show, redaction, nameOf, limits.text)
    this.#schedule = new ScheduleWatch(this.#run, this.#showKey)
    this.#locks = new LockWatch(this.#run, this.#show, this.#showKey, () => this.#later())
    this.#commands = new CommandWatch(executor.actor, options.queryActor)
    this.#messages = new MessageWatch(write, this.#calls, showUpTo, { ...options, limits })
  }

  attach(): void {
    for (const body of this.picture()) this.#write(body)
    const { actor } = this.#executor
    for (const system of new Set([actor.system, this.#options.queryActor?.system ?? actor.system])) {
      const inspection = system.inspect((event) => this.#safely(() => this.#see(event)))
      this.#leave.push(() => inspection.unsubscribe())
      const unwatch = engineOf(system)?.watchGuards(system, (...look) => this.#safely(() => this.#seeGuards(...look)))
      if (unwatch !== undefined) this.#leave.push(unwatch)
    }
    this.#leave.push(
      this.#executor.on('message', (taken) => this.#safely(() => this.#messages.see(taken))),
      this.#executor.on('placed', ({ toolUseID, ...place }) =>
        this.#safely(() => this.#write(placeFrame(this.#show, toolUseID, place))),
      ),
      () => this.#locks.leave(),
      this.#executor.on('warning', (warning) => this.#safely(() => this.#seeWarning(warning))),
    )
    const { background } = this.#executor
    if (background !== undefined)
      this.#leave.push(
        background.onChange((change) => this.#safely(() => this.#tell(...this.#backgroundFrames(change)))),
      )
    this.#later()
  }

  detach(): void {
    for (const leave of this.#leave.splice(0)) leave()
    this.#write({ type: 'left' })
  }

  /** The current state as frames, for a new reader. */
  picture(): FrameBody[] {
    const { actor } = this.#executor
    const snapshot = actor.getSnapshot()
    const { title, queryActor, parentToolUseID, recovered, isContinued } = this.#options
    const { calls, maxConcurrency: most } = this.#run
    this.#actors.clear()
    this.#cause = snapshot.context.cause
    const maxConcurrency = Number.isFinite(most) ? most : null
    const arrival = { layer: 'executor', from: 'host', event: '' } as const
    return [
      {
        type: 'run',
        title,
        isLate: calls.length > 0,
        maxConcurrency,
        root: this.#actors.idOf(actor),
        ...(parentToolUseID !== undefined && { parentToolUseID }),
        ...(!tellsGuards(actor.system) && { guards: 'unavailable' as const }),
        ...(recovered !== undefined && { recovered: this.#showRecovered(recovered) }),
        ...(isContinued === true && { isContinued }),
      },
      ...this.#actors.found(actor),
      ...(queryActor === undefined ? [] : this.#actors.found(queryActor)),
      // the page draws it before the first call
      ...this.#actors.chart(chartOf(callChart()).definition),
      ...calls.flatMap((call) => this.#pictureOf(call as ToolCall)),
      this.#schedule.begin(),
      ...this.#locks.picture(),
      this.#commands.picture(),
      ...(this.#cause === undefined ? [] : [abortFrame(this.#show, arrival, undefined, this.#cause)]),
      this.#questionsFrame(),
      ...(this.#executor.background?.undelivered() ?? []).flatMap((call) => this.#backgroundFrames(call)),
    ]
  }

  /** The page draws the chart of a background call by its status. */
  #backgroundFrames({ id, toolUseID: call, toolName: name, title, status, fate }: BackgroundChange): FrameBody[] {
    const label = asText(this.#show(title, { what: 'label', toolName: name, toolUseID: call }))
    return [
      ...this.#actors.chart(chartOf(backgroundChart()).definition),
      { type: 'background', id, call, name, label, status: fate ?? status },
    ]
  }

  #showRecovered({ session, from, by }: Recovered): Recovered {
    const shown = (text: string): string => asText(this.#show(text, { what: 'worker' }))
    return { session: shown(session), from: from === null ? null : shown(from), by: shown(by) }
  }

  #pictureOf(call: ToolCall): FrameBody[] {
    const ending = endingOf(call.ref?.getSnapshot().context)
    const place = placeOf(call)
    return [
      ...(call.ref === undefined ? [] : this.#actors.found(call.ref)),
      this.#calls.frameOf(call),
      ...(ending === undefined ? [] : [endingFrame(call, ending)]),
      ...(place === undefined ? [] : [placeFrame(this.#show, call.id, place)]),
      ...(call.decision === undefined ? [] : [decisionFrame(this.#show, call, call.decision)]),
    ]
  }

  readonly #showKey: ShowKey = (key, call) => this.#calls.keyOf(key, call)

  #seeGuards(...[actor, event, regions, taken]: Parameters<GuardWatcher>): void {
    const isExecutor = actor === (this.#executor.actor as AnyActorRef)
    const isGate = isExecutor && taken.length === 0 && regions[0]?.[0]?.eventType === ''
    // `canExecuteTool` checks only the first call in the queue
    const next = isGate ? (this.#run.queue.next ?? this.#firstBlocked()) : undefined
    const because = next && refusalOf(next, this.#run)
    const guards = this.#actors.guards(actor, event, regions, taken, because && `${because} ${next?.id}`)
    if (guards === undefined) return
    if (next === undefined || because === undefined) return this.#write(guards)
    this.#write({ ...guards, refusal: { call: next.id, ...reasonOf(next, this.#run, this.#showKey) } })
  }

  /** Where calls name resources, the queue has no next call while each waits for one. */
  #firstBlocked(): CallRecord | undefined {
    const { calls, completedUpTo } = this.#run
    return calls.slice(completedUpTo, completedUpTo + maxLookedAt).find(({ stage }) => stage === 'queued')
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
    const { type, ...given } = event
    const call = this.#actors.get(actor)?.call
    const rest = this.#withShownKeys(given, call)
    const data = Object.keys(rest).length === 0 ? {} : this.#show(rest, { what: 'event', ...whereabouts(call) })
    const sender = from === undefined ? null : this.#actors.idOf(from)
    this.#write({ type: 'event', from: sender, to: this.#actors.idOf(actor), event: type, data })
    const { cause } = rest as { cause?: StopCause }
    if (call === undefined || cause === undefined) return
    const arrival = { layer: 'call', from: from === undefined ? 'call' : 'executor', event: type } as const
    this.#write(abortFrame(this.#show, arrival, call, cause))
  }

  /** A changed input has other keys, which are hidden with it. */
  #withShownKeys(data: { call?: CallRecord; change?: Reclassification }, call = data.call): object {
    const keys = data.change?.keys
    if (keys === undefined || call === undefined) return data
    return { ...data, change: { ...data.change, keys: this.#calls.keysOf(keys, call) } }
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
    // a call that is not in the schedule yet is reported later, by #meet
    if (isNew && watched?.call !== undefined && this.#calls.has(watched.call))
      this.#write(endingFrame(watched.call, ending))
    if (watched?.call !== undefined) this.#seeOwnSteps(watched, watched.call as ToolCall, event)
    const isExecutor = actor === (this.#executor.actor as AnyActorRef)
    if (isExecutor) this.#afterExecutorStep(event, snapshot)
    else this.#later()
    if (step.active !== undefined) this.#tell(this.#commands.change(actor, snapshot))
  }

  /** Data of the call's record that its chart does not have. */
  #seeOwnSteps(watched: Watched, call: ToolCall, event: AnyEventObject): void {
    const { decision } = call
    if (decision !== undefined && decision !== watched.decision) {
      watched.decision = decision
      this.#write(decisionFrame(this.#show, call, decision))
    }
    if (event.type === 'tool.settled') this.#tell(attemptFrame(this.#show, call))
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
    // its index is known only once it is in the schedule
    if (call !== undefined && call.index >= 0 && !this.#calls.has(call)) this.#meet(call as ToolCall)
    else if (call?.keys !== undefined && (event.type === 'call.requeued' || event.type === 'call.rekeyed')) {
      this.#write(this.#calls.frameOf(call as ToolCall))
    }
    this.#tell(this.#schedule.change(call, isAborted))
  }

  /** Only now are the call's actor, its context from the start and its stage known. */
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

  #seeWarning({ code, message, toolUseID }: ExecutorWarning): void {
    const text = this.#show(message, { what: 'warning', ...(toolUseID !== undefined && { toolUseID }) })
    this.#write({ type: 'warning', call: toolUseID ?? null, code, message: asText(text) })
  }

  #questionsFrame(): QuestionsFrame {
    const asked = this.#executor.openQuestions?.() ?? []
    const { hide } = this.#options.redaction
    const open = asked.map((each) => questionOf(this.#showWhole, hide, each))
    this.#questions = JSON.stringify(open.map(({ call }) => call))
    return { type: 'questions', open }
  }

  /** Runs between steps: the parts that call user code, and what the steps led to. */
  #later(): void {
    if (this.#isJobDue) return
    this.#isJobDue = true
    queueMicrotask(() => {
      this.#isJobDue = false
      if (this.#leave.length > 0) this.#safely(() => this.#catchUp())
    })
  }

  #catchUp(): void {
    this.#tell(...this.#calls.askForLabels(), ...this.#locks.changes())
    const before = this.#questions
    const questions = this.#questionsFrame()
    if (before !== this.#questions) this.#write(questions)
  }

  /** An observer that throws would put the actor into its error state. */
  #safely(look: () => void): void {
    try {
      look()
    } catch {
      this.#write({ type: 'gap', because: 'recorder', lost: 1 })
    }
  }
}
