import type { AnyActorRef } from 'xstate'
import {
  type AbortCause,
  type BackgroundEvent,
  backgroundChart,
  type Detachment,
  type ResourceKeys,
} from '../../machines/index.ts'
import type { Clock } from '../base/clock.ts'
import { Outbox } from '../base/outbox.ts'
import type { ChartEngine } from '../chart-engine/chart-engine.ts'
import type { LoggedBackground } from '../journal/open-turn.ts'
import type { RunLog } from '../journal/run-log.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { Message, ProgressMessage } from '../messages/message.ts'
import { placeOf } from '../pipeline/body-link.ts'
import { type BackgroundIntake, callOf, type DetachedAs } from '../pipeline/detaching.ts'
import type { ExecutorServices } from '../pipeline/executor-services.ts'
import { lockOf } from '../pipeline/locking.ts'
import { recordedCallOf } from '../pipeline/recorded-call.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import { createLocks, type SharedLocks } from '../tool/locks.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import {
  type Background,
  type BackgroundCall,
  type BackgroundChange,
  type BackgroundListener,
  type BackgroundReading,
  isOpen,
  originOf,
  seen,
} from './background-call.ts'
import { type BackgroundHost, BackgroundServices } from './background-services.ts'
import { ChangeWaits } from './change-waits.ts'
import { DetachedCall, type DetachedHost, warnAboutModifier } from './detached-call.ts'
import { outcomeMessages } from './outcome-messages.ts'
import { canTell, hasTold, OutcomeReadings } from './outcome-readings.ts'

interface BackgroundSettings {
  readonly engine: ChartEngine
  readonly clock: Clock
  readonly idsAndTime: IdsAndTime
}

/** How many calls that are over are still listed. */
const mostOver = 50

/** The background calls of one query or one session. */
export class BackgroundCalls implements Background, BackgroundIntake, BackgroundHost, DetachedHost {
  listener: BackgroundListener | undefined
  /** For the session: a call is over, and its outcome can be told. */
  onFinished: ((call: BackgroundCall) => void) | undefined
  readonly #observers = new Set<(change: BackgroundChange) => void>()
  readonly #settings: BackgroundSettings
  readonly #maxBackground: number
  readonly #outbox: Outbox
  /** By id, in the order in which they came. */
  readonly #calls = new Map<string, DetachedCall>()
  /** Those that are over and not delivered, in the order in which they ended. */
  #over: DetachedCall[] = []
  readonly #readings = new OutcomeReadings()
  readonly #waits = new ChangeWaits()
  #count = 0
  #log: RunLog | undefined
  #locks: SharedLocks | undefined
  #isClosed = false

  constructor(settings: BackgroundSettings, maxBackground = 20) {
    this.#settings = settings
    this.#maxBackground = maxBackground
    this.#outbox = new Outbox(settings.engine.send, () => this.#wake())
  }

  get hasRoom(): boolean {
    return !this.#isClosed && this.#underWay.length < this.#maxBackground
  }

  get locks(): SharedLocks | undefined {
    return this.#locks
  }

  holdKeys(call: DetachedCall, keys: ResourceKeys): void {
    if (call.executor.locks === undefined) this.#locks = createLocks() as SharedLocks
    const { locks } = call.executor
    // its body runs already, so nobody waits for the answer
    locks?.book.take(lockOf(call, locks), keys, { granted: () => undefined, refused: () => undefined })
  }

  /** A call that a query must wait for is not over. */
  get isAwaited(): boolean {
    return [...this.#calls.values()].some((call) => call.background.how.isAwaited && isOpen(call))
  }

  get hasOutcome(): boolean {
    return this.#over.some((call) => this.#isDeliverable(call))
  }

  /** Every call that is under way is an agent whose own run waits for a person. */
  get isStalled(): boolean {
    return this.#underWay.every(
      ({ ownContext }) => ownContext !== undefined && recordedCallOf(ownContext)?.isSuspended === true,
    )
  }

  /** Nothing is under way. */
  get isIdle(): boolean {
    return this.#underWay.length === 0
  }

  list(): BackgroundCall[] {
    return [...this.#calls.values()].map(seen)
  }

  undelivered(): BackgroundCall[] {
    return [...this.#calls.values()].filter((call) => isOpen(call) || this.#over.includes(call)).map(seen)
  }

  onChange(listener: (change: BackgroundChange) => void): () => void {
    this.#observers.add(listener)
    return () => void this.#observers.delete(listener)
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
  adopt(from: ToolCall, { started, outcome, read = [] }: LoggedBackground, context: ToolUseContext): void {
    const { id, isAwaited, onEnd } = started
    const reader = this.#add(from, { id, how: { isAwaited, onEnd } }, context, outcome)
    for (const each of read) this.#readings.add(reader, each)
    // an outcome that the log has precedes the run's first request
    this.#outbox.run(() => undefined)
  }

  /**
   * The outcomes that are ready, in the order in which the calls ended, as messages for the conversation. Each is returned
   * once.
   */
  takeOutcomes(): Message[] {
    const ready = this.#over.filter((call) => this.#isDeliverable(call))
    return ready.flatMap((call) => {
      // first in the log: what this outcome tells is never told again
      for (const id of this.readBy(call)) this.#log?.append({ t: 'background.delivered', id, messages: [] })
      this.#deliverRead(this.readBy(call))
      const messages = outcomeMessages(call.messages, call.description, originOf(call), this.#settings.idsAndTime)
      this.#log?.append({ t: 'background.delivered', id: call.background.id, messages })
      this.#deliver(call)
      return messages
    })
  }

  /** The current output and outcome of a call. An outcome counts as delivered when the turn of the reading call does. */
  read(id: string, by: ToolCall | undefined): BackgroundReading | undefined {
    const call = this.#calls.get(id)
    if (call === undefined) return undefined
    const reader = by?.background === undefined ? by : this.#calls.get(by.background.id)
    const isHeard = by === undefined || (reader !== undefined && canTell(reader))
    const output = isHeard ? call.output.take() : ''
    if (isOpen(call)) return { ...seen(call), output }
    // while a reader in the background waited for it, it may have been delivered
    if (reader?.isDetached === true && !this.#over.includes(call)) return { ...seen(call), output }
    if (isHeard && reader !== undefined) this.#readings.add(reader, id)
    return { ...seen(call), output, outcome: call.messages }
  }

  /** The background calls whose outcomes a call has read, if its own result tells them. */
  readBy(reader: ToolCall): string[] {
    return this.#readings.toldBy(reader)
  }

  readIn(id: string, context: { readonly abortController?: unknown }): BackgroundReading | undefined {
    return this.read(id, callOf(context))
  }

  async wait(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#settings
    const call = this.#calls.get(id)
    if (call === undefined || !isOpen(call) || signal.aborted) return
    await this.#waits.untilOrTimeout(() => !isOpen(call), clock, ms, signal)
  }

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
    this.leave(isElsewhere)
    this.stopAll('suspend', true)
    return this.whenIdle()
  }

  /** Everything ends: stops what still runs, or leaves it behind. Resolves when nothing is under way. */
  close(reason: unknown): Promise<void> | undefined {
    this.#isClosed = true
    this.leave()
    this.stopAll(reason, true)
    return this.whenIdle()
  }

  /** Leaves behind the calls that are to run on by themselves. */
  leave(runsOn: (call: DetachedCall) => boolean = ({ background }) => background.how.onEnd === 'leave'): void {
    for (const call of this.#underWay) if (runsOn(call)) this.#tell(call, { type: 'background.leave' })
  }

  /** Undefined if nothing is under way. With `ms`, resolves too when that time is up. */
  whenIdle(ms?: number): Promise<void> | undefined {
    if (this.isIdle) return undefined
    const isIdle = (): boolean => this.isIdle
    // timers do not support more
    const isTimed = ms !== undefined && ms < 2 ** 31
    return isTimed ? this.#waits.untilOrTimeout(isIdle, this.#settings.clock, ms) : this.#waits.until(isIdle)
  }

  discardOf(executor: ExecutorServices, reason: unknown = 'streaming_fallback'): void {
    const cause: AbortCause = { kind: 'streaming_fallback', reason }
    // what a discarded reply has read, nobody has read
    this.#readings.forgetReaders((reader) => reader.executor === executor)
    const own = [...this.#calls.values()].filter(({ origin }) => origin === executor)
    if (reason === 'suspend') this.leave((call) => own.includes(call) && isElsewhere(call))
    for (const call of own) this.#tell(call, { type: 'background.stop', cause, drops: true })
  }

  /**
   * The turn of these calls counts: what they have read is delivered. `before`: what its results from the log tell.
   * Returns the ids of those background calls.
   */
  commit(isOfTurn: (toolUseID: string) => boolean, before: readonly string[] = []): string[] {
    if (this.#readings.isEmpty && before.length === 0) return []
    return this.#deliverRead([...this.#readings.takeTurn(isOfTurn), ...before])
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
    // made now, while the body's result is at hand; later readers get the same messages
    call.outgoing.prepare()
    call.executor.account?.recordTime()
    this.#over.push(call)
    if (!hasTold(call)) this.#forgetReadings(call)
    call.executor.report.completed(call)
    this.#show(call)
  }

  announced(call: DetachedCall): void {
    // its outcome is being recorded, or nobody gets it
    if (!call.isReady) return
    this.onFinished?.(seen(call))
    if (this.#isDeliverable(call)) this.listener?.ready()
  }

  recorded(call: DetachedCall): void {
    const log = this.#log
    if (log === undefined) return
    const read = this.readBy(call)
    const told = read.length > 0 ? { read } : {}
    log.append({ t: 'background.finished', id: call.background.id, messages: call.messages, ...told })
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
    this.#forgetReadings(call)
    this.#show(call, 'dropped')
  }

  get #underWay(): DetachedCall[] {
    return [...this.#calls.values()].filter(({ isUnderWay }) => isUnderWay)
  }

  #add(from: ToolCall, as: DetachedAs, context: ToolUseContext, outcome?: readonly Message[]): DetachedCall {
    const services = new BackgroundServices(from.executor, this, context)
    const call = new DetachedCall(from, services, this, as, outcome)
    this.#calls.set(as.id, call)
    this.#readings.passOn(from, call)
    this.push(() => this.#start(call))
    return call
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
    this.#show(call, 'delivered')
  }

  /** Returns the ids of those that were not delivered before. */
  #deliverRead(ids: readonly string[]): string[] {
    const read = this.#over.filter((call) => call.isReady && ids.includes(call.background.id))
    this.#readings.forgetOutcomes(ids)
    for (const call of read) this.#deliver(call)
    return read.map(({ background }) => background.id)
  }

  /** Its result does not tell what it has read: that is delivered by itself. */
  #forgetReadings(reader: ToolCall): void {
    if (this.#readings.forgetReaders((each) => each === reader) && this.hasOutcome) this.listener?.ready()
  }

  #isDeliverable(call: DetachedCall): boolean {
    return call.isReady && !this.#readings.hasOutcome(call.background.id)
  }

  #tell(call: DetachedCall, event: BackgroundEvent): void {
    if (call.actor === undefined) this.push(() => this.#tell(call, event))
    else if (call.actor.getSnapshot().status === 'active') {
      this.send(call.actor, event)
      if (event.type === 'background.stop' && call.isUnderWay) this.#show(call)
    }
  }

  #forgetOldest(): void {
    const delivered = [...this.#calls.values()].filter((call) => !isOpen(call) && !this.#over.includes(call))
    for (const { background } of delivered.slice(0, Math.max(0, delivered.length - mostOver))) {
      this.#calls.delete(background.id)
    }
  }

  #show(call: DetachedCall, fate?: 'delivered' | 'dropped'): void {
    for (const observe of this.#observers) {
      try {
        observe({ ...seen(call), ...(fate !== undefined && { fate }) })
      } catch {
        // an observer that throws must not affect the call
      }
    }
  }

  #wake(): void {
    this.#waits.wake()
    this.listener?.atRest?.()
  }
}

/** Its body needs no process here: at a suspension it runs on, and the resumed session attaches to it. */
const isElsewhere = (call: DetachedCall): boolean => placeOf(call) !== undefined

const causeOf = (reason: unknown): AbortCause => ({ kind: 'user_interrupted', reason })

/** The background calls of the query or session that a call belongs to, for tools that list, read or stop them. */
export function backgroundOf(context: { readonly abortController?: unknown }): Background | undefined {
  const background = callOf(context)?.executor.background
  return background instanceof BackgroundCalls ? background : undefined
}
