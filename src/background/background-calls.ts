import type { AnyActorRef } from 'xstate'
import { type AbortCause, type BackgroundEvent, backgroundChart, type Detachment } from '../../machines/index.ts'
import { type Clock, clearTimer } from '../base/clock.ts'
import { Outbox } from '../base/outbox.ts'
import type { ChartEngine } from '../chart-engine/chart-engine.ts'
import type { LoggedBackground } from '../journal/open-turn.ts'
import type { RunLog } from '../journal/run-log.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { BackgroundOrigin, Message, ProgressMessage } from '../messages/message.ts'
import { type BackgroundDesk, callOf, type DetachedAs } from '../pipeline/detaching.ts'
import type { ExecutorServices } from '../pipeline/executor-services.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { BackgroundServices, type DeskServices } from './background-services.ts'
import { type BackgroundStatus, DetachedCall, type DetachedHost } from './detached-call.ts'
import { outcomeMessages } from './outcome-messages.ts'

/** A call in the background, as a host or a model sees it. */
export interface BackgroundCall {
  readonly id: string
  /** The call that the model made. */
  readonly toolUseID: string
  readonly toolName: string
  /** A summary for people, such as `Bash(npm test)`. */
  readonly title: string
  readonly status: BackgroundStatus
  /** A query waits for its outcome before it ends. */
  readonly isAwaited: boolean
}

/** What a reader of a background call gets. */
export interface BackgroundReading extends BackgroundCall {
  /** What its body has reported since the last reading. */
  readonly output: string
  /** The messages of its outcome, the result first. Absent while it runs. */
  readonly outcome?: readonly Message[]
}

interface DeskSettings {
  readonly engine: ChartEngine
  readonly clock: Clock
  readonly idsAndTime: IdsAndTime
}

/** What a desk tells the query or the session that owns it. */
export interface BackgroundListener {
  /** An outcome can be delivered. */
  ready(): void
  progressed(message: ProgressMessage): void
  /** Who looks on: a call has come, or has changed its status. */
  changed?(call: BackgroundCall): void
}

/** How many calls that are over are still listed. */
const mostOver = 50

/** The background calls of one query or one session. */
export class BackgroundCalls implements BackgroundDesk, DeskServices, DetachedHost {
  listener: BackgroundListener | undefined
  readonly #settings: DeskSettings
  readonly #maxBackground: number
  readonly #outbox: Outbox
  /** By id, in the order in which they came. */
  readonly #calls = new Map<string, DetachedCall>()
  /** Those that are over and not delivered, in the order in which they ended. */
  #over: DetachedCall[] = []
  #waiting: (() => void)[] = []
  #count = 0
  #log: RunLog | undefined
  #isClosed = false

  constructor(settings: DeskSettings, maxBackground = 20) {
    this.#settings = settings
    this.#maxBackground = maxBackground
    this.#outbox = new Outbox(settings.engine.send, () => this.#wake())
  }

  get hasRoom(): boolean {
    return !this.#isClosed && this.#underWay.length < this.#maxBackground
  }

  /** A call that a query must wait for is not over. */
  get isAwaited(): boolean {
    return [...this.#calls.values()].some((call) => call.background.how.isAwaited && isOpen(call))
  }

  get hasOutcome(): boolean {
    return this.#over.some(isDeliverable)
  }

  /** Nothing is under way. */
  get isIdle(): boolean {
    return this.#underWay.length === 0
  }

  list(): BackgroundCall[] {
    return [...this.#calls.values()].map(seen)
  }

  get isLogged(): boolean {
    return this.#log !== undefined
  }

  has(id: string): boolean {
    return this.#calls.has(id)
  }

  /** The log of the session, in which everything is recorded from now on. */
  recordIn(log: RunLog): void {
    this.#log = log
    this.#count = Math.max(this.#count, log.backgroundCount)
  }

  take(from: ToolCall, how: Detachment): DetachedAs {
    const as = { id: `bg_${++this.#count}`, how }
    this.#add(from, as, from.contextBase as ToolUseContext)
    return as
  }

  /** A call of the log, from an earlier process: `from` has no body. */
  adopt(from: ToolCall, { started, outcome }: LoggedBackground, context: ToolUseContext): void {
    const { id, isAwaited, onEnd } = started
    this.#add(from, { id, how: { isAwaited, onEnd } }, context, outcome)
    // an outcome that the log has precedes the run's first request
    this.#outbox.run(() => undefined)
  }

  /**
   * The outcomes that are ready, in the order in which the calls ended, as messages for the conversation. Each is returned
   * once.
   */
  takeOutcomes(): Message[] {
    const ready = this.#over.filter(isDeliverable)
    return ready.flatMap((call) => {
      const messages = outcomeMessages(call.messages, call.description, originOf(call), this.#settings.idsAndTime)
      this.#log?.append({ t: 'background.delivered', id: call.background.id, messages })
      this.#deliver(call)
      return messages
    })
  }

  /** What a call has to say now. An outcome counts as delivered when the turn of the reading call does. */
  read(id: string, by: ToolCall | undefined): BackgroundReading | undefined {
    const call = this.#calls.get(id)
    if (call === undefined) return undefined
    const output = call.output.take()
    if (isOpen(call)) return { ...seen(call), output }
    if (by !== undefined) call.readBy = by
    return { ...seen(call), output, outcome: call.messages }
  }

  /** What a tool's body reads, for its own result. */
  readIn(id: string, context: { readonly abortController?: unknown }): BackgroundReading | undefined {
    return this.read(id, callOf(context))
  }

  /** Resolves when the call is over, or the time is up. */
  async wait(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#settings
    const call = this.#calls.get(id)
    if (call === undefined || !isOpen(call) || signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(() => end(), ms)
      let isOver = false
      const check = (): void => {
        if (!isOver) isOpen(call) ? this.#waiting.push(check) : end()
      }
      const end = (): void => {
        isOver = true
        clearTimer(clock, timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      signal.addEventListener('abort', end, { once: true })
      this.#waiting.push(check)
    })
  }

  /** Tells a call to stop. False if it is over or unknown. */
  stop(id: string, reason: unknown = 'background_stop'): boolean {
    const call = this.#calls.get(id)
    if (call === undefined || !call.isUnderWay) return false
    this.#tell(call, { type: 'background.stop', cause: causeOf(reason), drops: false })
    return true
  }

  /** `drops`: nobody gets the outcomes of what still runs. */
  stopAll(reason: unknown, drops: boolean): void {
    for (const call of this.#underWay) {
      this.#tell(call, { type: 'background.stop', cause: causeOf(reason), drops })
    }
  }

  /** The session is suspended: no outcome of what still runs is recorded. Resolves when nothing is under way. */
  suspend(): Promise<void> | undefined {
    this.stopAll('suspend', true)
    return this.whenIdle()
  }

  /** Everything ends: stops what still runs, or leaves it behind. Resolves when nothing is under way. */
  close(reason: unknown): Promise<void> | undefined {
    this.#isClosed = true
    for (const call of this.#underWay) {
      if (call.background.how.onEnd === 'leave') this.#tell(call, { type: 'background.leave' })
    }
    this.stopAll(reason, true)
    return this.whenIdle()
  }

  /** Undefined if nothing is under way. */
  whenIdle(): Promise<void> | undefined {
    if (this.isIdle) return undefined
    return new Promise((resolve) => {
      const check = (): void => (this.isIdle ? resolve() : void this.#waiting.push(check))
      this.#waiting.push(check)
    })
  }

  discardOf(executor: ExecutorServices): void {
    const cause: AbortCause = { kind: 'streaming_fallback', reason: 'streaming_fallback' }
    for (const call of [...this.#calls.values()]) {
      // what a discarded reply has read, nobody has read
      if (call.readBy?.executor === executor) call.readBy = undefined
      if (call.origin === executor) this.#tell(call, { type: 'background.stop', cause, drops: true })
    }
  }

  /** The turn of these calls counts: what they have read is delivered. Returns the ids of those background calls. */
  commit(isOfTurn: (toolUseID: string) => boolean): string[] {
    const read = this.#over.filter(({ readBy }) => readBy !== undefined && isOfTurn(readBy.id))
    for (const call of read) {
      if (hasTold(call.readBy)) this.#deliver(call)
      else call.readBy = undefined
    }
    return read.filter(({ readBy }) => readBy !== undefined).map(({ background }) => background.id)
  }

  push(job: () => void): void {
    this.#outbox.push(job)
  }

  send(actor: AnyActorRef, event: BackgroundEvent | object): void {
    this.#outbox.send(actor, event as BackgroundEvent)
  }

  addProgress(call: ToolCall, message: ProgressMessage): void {
    if (!(call instanceof DetachedCall) || !call.isUnderWay) return
    call.output.add(message.data)
    this.listener?.progressed({ ...message, backgroundID: call.background.id })
  }

  concluded(call: DetachedCall): void {
    warnAboutModifier(call)
    call.messages
    call.executor.account?.recordTime()
    this.#over.push(call)
    call.executor.report.completed(call)
    this.#show(call)
  }

  announced(call: DetachedCall): void {
    if (call.isReady && call.readBy === undefined) this.listener?.ready()
  }

  recorded(call: DetachedCall): void {
    const log = this.#log
    if (log === undefined) return
    log.append({ t: 'background.finished', id: call.background.id, messages: call.messages })
    const finish = (isDurable: boolean): void => {
      // what cannot be recorded is not told: a resumed session decides what became of the call
      if (!isDurable) return
      call.isUnrecorded = false
      this.#tell(call, { type: 'outcome.recorded' })
    }
    const flushing = log.flush()
    if (flushing === undefined) finish(true)
    else void flushing.then(finish)
  }

  letGo(call: DetachedCall): void {
    this.#over = this.#over.filter((each) => each !== call)
    this.#calls.delete(call.background.id)
  }

  get #underWay(): DetachedCall[] {
    return [...this.#calls.values()].filter(({ isUnderWay }) => isUnderWay)
  }

  #add(from: ToolCall, as: DetachedAs, context: ToolUseContext, outcome?: readonly Message[]): void {
    const services = new BackgroundServices(from.executor, this, context)
    const call = new DetachedCall(from, services, this, as, outcome)
    this.#calls.set(as.id, call)
    this.push(() => this.#start(call))
  }

  #start(call: DetachedCall): void {
    call.actor = this.#settings.engine.createRoot(backgroundChart(), { id: call.background.id, input: { port: call } })
    this.#outbox.run(() => call.actor?.start())
    this.#show(call)
  }

  #deliver(call: DetachedCall): void {
    this.#tell(call, { type: 'background.deliver' })
    this.#over = this.#over.filter((each) => each.isReady || isOpen(each))
    this.#forgetOldest()
  }

  #tell(call: DetachedCall, event: BackgroundEvent): void {
    if (call.actor === undefined) this.push(() => this.#tell(call, event))
    else if (call.actor.getSnapshot().status === 'active') this.send(call.actor, event)
  }

  #forgetOldest(): void {
    const delivered = [...this.#calls.values()].filter((call) => !isOpen(call) && !this.#over.includes(call))
    for (const { background } of delivered.slice(0, Math.max(0, delivered.length - mostOver))) {
      this.#calls.delete(background.id)
    }
  }

  #show(call: DetachedCall): void {
    this.listener?.changed?.(seen(call))
  }

  #wake(): void {
    for (const check of this.#waiting.splice(0)) check()
  }
}

/** It has no outcome yet, or none that may be told. */
const isOpen = (call: DetachedCall): boolean =>
  call.isUnderWay || call.actor?.getSnapshot().matches({ finished: 'recording' }) === true

const isDeliverable = (call: DetachedCall): boolean => call.isReady && call.readBy === undefined

const causeOf = (reason: unknown): AbortCause => ({ kind: 'user_interrupted', reason })

/** The model has the outcome only if the call that read it has its own result. */
const hasTold = (by: ToolCall | undefined): boolean => by?.ending?.by === 'result' && by.outcome === undefined

function originOf(call: DetachedCall): BackgroundOrigin {
  const { id, toolUseID, toolName, status } = seen(call)
  return { id, toolUseID, toolName, status: status as BackgroundOrigin['status'] }
}

const seen = (call: DetachedCall): BackgroundCall => ({
  id: call.background.id,
  toolUseID: call.id,
  toolName: call.tool?.name ?? call.name,
  title: call.description,
  status: call.status,
  isAwaited: call.background.how.isAwaited,
})

function warnAboutModifier(call: DetachedCall): void {
  const { bodyResult, executor } = call
  if (bodyResult?.ok !== true || bodyResult.result.contextModifier === undefined) return
  executor.warn(call, 'context_modifier_dropped', 'it went to the background, so its context modifier was dropped')
}

/** The background calls of the query or session that a call belongs to, for tools that list, read or stop them. */
export function backgroundOf(context: { readonly abortController?: unknown }): BackgroundCalls | undefined {
  const background = callOf(context)?.executor.background
  return background instanceof BackgroundCalls ? background : undefined
}
