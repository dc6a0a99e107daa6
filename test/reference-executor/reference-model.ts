import type { DiscardedCall } from '../../src/index.ts'
import {
  discardedCall,
  isAlone,
  isExecuting,
  isLive,
  isOver,
  type ModelCall,
  newCall,
  stateInWords,
} from './model-call.ts'
import { ModelDelivery } from './model-delivery.ts'
import { gateOf, hasPlace, isFree, nextToStart } from './model-gate.ts'
import { ModelWarnings } from './model-warnings.ts'
import { isStronger, type RunState, runStateOf } from './run-state.ts'
import {
  type AbortWord,
  type Answer,
  anything,
  type CallPlan,
  graceMs,
  type Keys,
  type TurnPlan,
  type TurnView,
  toolName,
  unknownName,
} from './turn-view.ts'

/** The contract of a turn, in the simplest code: no events, no timers, no promises. */
export class ReferenceModel {
  readonly calls: ModelCall[] = []
  readonly started: string[] = []
  readonly asked: string[] = []
  readonly #plan: TurnPlan
  readonly #delivery: ModelDelivery
  readonly #warnings = new ModelWarnings()
  #run: RunState = 'clear'
  #culprit = ''
  #hostAbort = 'none'
  /** The host aborted while there was no call; the next call gets the abort. */
  #unheard: AbortWord | undefined
  #toldAtDiscard: DiscardedCall[] | undefined
  #now = 0

  constructor(plan: TurnPlan) {
    this.#plan = plan
    this.#delivery = new ModelDelivery(this.calls, plan.maxBufferedProgress)
    if (plan.abortedBefore !== undefined) this.abortByHost(plan.abortedBefore)
  }

  get isDiscarded(): boolean {
    return this.#run === 'discarded'
  }

  get hasReaders(): boolean {
    return this.#delivery.wanted > 0
  }

  /** Returns the call's state before anything asynchronous happens. */
  add(label: string, plan: CallPlan): string {
    if (plan.fault !== 'unknown') this.#hear()
    const call = this.#append(label, toolName(plan), plan)
    if (this.isDiscarded) call.stage = 'ignored'
    else if (plan.fault === 'unknown') this.#complete(call, 'unknown tool')
    else if (this.#isReached(call)) this.#complete(call, this.#synthetic(call))
    this.#scan()
    const state = plan.fault === 'invalid' && call.hasExecuted ? anything : stateInWords(call)
    this.#advance()
    return state
  }

  /** Another call with a taken id. */
  clash(label: string, taken: ModelCall): void {
    this.#complete(this.#append(label, taken.name, taken.plan), `clash with ${taken.label}`)
    this.#advance()
  }

  release(call: ModelCall): boolean {
    const isLetGo = call.stage === 'waiting' && call.held
    if (isLetGo) call.held = false
    this.#advance()
    return isLetGo
  }

  finish(call: ModelCall, hasNote: boolean): void {
    if (call.stage === 'running') this.#complete(call, 'success', ...(hasNote ? ['note'] : []))
    else if (call.stage === 'stopping') this.#complete(call, `${this.#synthetic(call)}, but returned`)
    else this.#warnings.lateEnd(call)
    this.#advance()
  }

  fail(call: ModelCall): void {
    if (call.stage === 'running') this.#failOfItsOwn(call, 'failed')
    else if (call.stage === 'stopping') this.#complete(call, this.#synthetic(call))
    else this.#warnings.lateEnd(call)
    this.#advance()
  }

  progress(call: ModelCall): void {
    call.progressCount += 1
    if (isLive(call)) this.#delivery.addProgress(call, `progress ${call.progressCount}`)
    else this.#warnings.lateProgress(call)
    this.#advance()
  }

  answer(call: ModelCall, answer: Answer): void {
    if (call.stage !== 'asking') return
    if (answer === 'allow') this.#permit(call)
    else if (answer === 'allow with other keys') this.#permitElsewhere(call)
    else this.#complete(call, 'denied')
    if (answer === 'deny and stop') {
      if (this.#hostAbort === 'none') this.#hostAbort = 'permission_stop'
      this.#raise('aborted', 'permission_stop')
    }
    this.#advance()
  }

  abort(reason: string): void {
    this.#raise(runStateOf(reason), reason)
    this.#advance()
  }

  abortByHost(reason: AbortWord): void {
    if (this.#hostAbort !== 'none') return // a controller fires once
    this.#hostAbort = reason
    if (this.calls.every(isOver)) this.#unheard = reason
    else this.abort(reason)
  }

  discard(): DiscardedCall[] {
    if (this.#toldAtDiscard !== undefined) return this.#toldAtDiscard
    const known = this.calls.filter(({ stage }) => stage !== 'ignored')
    const told = known.map((call) => discardedCall(call, this.started.includes(call.label)))
    this.#toldAtDiscard = told
    this.#raise('discarded', 'streaming_fallback')
    this.#advance()
    return told
  }

  passTime(ms: number): void {
    const end = this.#now + ms
    const due = this.calls.filter((call) => call.stage === 'stopping' && call.deadline <= end)
    for (const call of due.sort((one, other) => one.deadline - other.deadline)) {
      this.#warnings.abandoned(call)
      this.#complete(call, this.#synthetic(call))
      this.#scan()
    }
    this.#now = end
    this.#advance()
  }

  /** A reader that takes what is ready, up to a number, and leaves. */
  take(count: number): void {
    for (let taken = 0; taken < count && !this.isDiscarded && this.#delivery.takeOne(); taken += 1);
  }

  /** A reader that stays until it has its number of messages, or until everything has been handed over. */
  read(count: number): void {
    this.#delivery.wanted += count
    this.#advance()
  }

  leave(unserved: number): void {
    this.#delivery.wanted -= unserved
  }

  view(): TurnView {
    const executing = this.calls.filter(isExecuting)
    const isUncertain = this.#unheard !== undefined && isStronger(runStateOf(this.#unheard), this.#run)
    return {
      gate: gateOf(this.calls),
      run: isUncertain ? anything : this.#run,
      hostAbort: this.#hostAbort,
      states: this.calls.map((call) => `${call.label} ${stateInWords(call)}`),
      started: this.started,
      asked: this.asked,
      signals: this.calls
        .filter(({ label }) => this.started.includes(label))
        .map(({ label, signal }) => `${label} ${signal}`),
      handedOver: this.#delivery.handedOver,
      wanted: this.#delivery.wanted,
      inProgress: this.calls
        .filter(({ hasExecuted, stage }) => hasExecuted && stage !== 'yielded' && !this.isDiscarded)
        .map(({ label }) => label),
      interruptible: !this.isDiscarded && executing.length > 0 && executing.every(({ plan }) => plan.cancel),
      warnings: this.#warnings.sorted(),
    }
  }

  #append(label: string, name: string, plan: CallPlan): ModelCall {
    const call = newCall(label, plan.fault === 'unknown' ? unknownName : name, plan)
    this.calls.push(call)
    return call
  }

  #advance(): void {
    this.#scan()
    if (this.isDiscarded) this.#delivery.wanted = 0
    this.#delivery.serveReaders()
  }

  #scan(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#start(next)
  }

  #next = (): ModelCall | undefined => nextToStart(this.calls, this.#plan.maxConcurrency)

  #start(call: ModelCall): void {
    call.hasExecuted = true
    if (call.plan.fault === 'invalid') this.#failOfItsOwn(call, 'invalid input')
    else if (call.plan.asks && this.#plan.hostAsks && !call.isPermitted) {
      call.stage = 'asking'
      this.asked.push(call.label)
    } else this.#startBody(call)
  }

  /** If its slot is taken, it waits for one. */
  #permit(call: ModelCall): void {
    call.isPermitted = true
    if (hasPlace(this.calls, this.#plan.maxConcurrency)) return this.#startBody(call)
    call.stage = 'waiting'
    call.hasExecuted = false
  }

  /** With other resources it goes on if nothing is in the way, or else waits for them, at its place. */
  #permitElsewhere(call: ModelCall): void {
    const { keyed, keys, otherKeys } = call.plan
    call.isChanged = keyed && JSON.stringify(keys) !== JSON.stringify(otherKeys)
    if (!keyed || isSame(call.keys, otherKeys)) return this.#permit(call)
    const wasAlone = isAlone(call)
    call.keys = otherKeys
    if (wasAlone === isAlone(call) && isFree(this.calls, call)) return this.#permit(call)
    call.isPermitted = true
    call.stage = 'waiting'
    call.hasExecuted = false
  }

  #startBody(call: ModelCall): void {
    call.stage = 'running'
    this.started.push(call.label)
  }

  #failOfItsOwn(call: ModelCall, ending: string): void {
    this.#complete(call, ending)
    if (!call.plan.cascades) return
    this.#culprit = `${call.name}(${call.label})`
    this.#raise('siblingErrored', 'sibling_error')
  }

  #complete(call: ModelCall, ...ending: string[]): void {
    call.stage = 'completed'
    call.outbox = call.isChanged ? [...ending, 'input_changed'] : ending
  }

  #hear(): void {
    if (this.#unheard !== undefined) this.#raise(runStateOf(this.#unheard), this.#unheard)
    this.#unheard = undefined
  }

  #raise(state: RunState, reason: string): void {
    // a second interrupt ends the questions that were asked since the first
    const isAnotherInterrupt = state === 'interrupted' && this.#run === 'interrupted'
    if (!isStronger(state, this.#run) && !isAnotherInterrupt) return
    this.#run = state
    for (const call of this.calls) {
      if (isOver(call) || call.stage === 'stopping' || !this.#isReached(call)) continue
      if (call.stage === 'running') {
        call.signal = reason
        call.deadline = this.#now + graceMs
        call.stage = 'stopping'
      }
      if (call.stage !== 'stopping' || call.plan.obedient) this.#complete(call, this.#synthetic(call))
    }
  }

  #isReached({ plan, stage }: ModelCall): boolean {
    if (this.#run === 'interrupted') return plan.cancel || stage === 'asking'
    return this.#run !== 'clear'
  }

  #synthetic({ hasExecuted }: ModelCall): string {
    if (this.#run === 'siblingErrored') return `cancelled because of ${this.#culprit}`
    return hasExecuted ? 'stopped by the user' : 'cancelled before it started'
  }
}

const isSame = (one: Keys, other: Keys): boolean =>
  [...one.reads].sort().join() === [...other.reads].sort().join() &&
  [...one.writes].sort().join() === [...other.writes].sort().join()
