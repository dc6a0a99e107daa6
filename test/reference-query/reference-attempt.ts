import type { SentCall } from './entry.ts'
import { failsAtOnce, isExecuting, type ReferenceCall, referenceCall } from './reference-call.ts'
import { discardedInWords } from './seen.ts'
import { type Answer, graceMs, type QueryPlan } from './story.ts'

/** What an attempt needs from the story. */
export interface Surroundings {
  readonly plan: QueryPlan
  readonly now: number
  /** The context after the calls before this attempt. */
  readonly marks: string
  isTaken(id: string): boolean
  /** False if a limit forbids one more call. */
  countCall(): boolean
  mint(): string
  ask(): number
  begin(call: ReferenceCall, marks: string): number
  /** A permission was answered with "stop". */
  stopTurn(): void
}

/** The calls of one attempt at a reply. */
export class ReferenceAttempt {
  readonly calls: ReferenceCall[] = []
  isHookStopped = false
  isDiscarded = false
  readonly #around: Surroundings
  /** The context before its calls. */
  readonly base: string
  #abort: 'none' | 'interrupt' | 'all' = 'none'

  constructor(around: Surroundings) {
    this.#around = around
    this.base = around.marks
  }

  get isIdle(): boolean {
    return !this.calls.some(isExecuting)
  }

  get isDrained(): boolean {
    return this.calls.every(({ isYielded }) => isYielded)
  }

  /** The context after all completed calls, up to the first that is not. */
  get marks(): string {
    const open = this.calls.findIndex(({ stage }) => stage !== 'over')
    const done = open < 0 ? this.calls : this.calls.slice(0, open)
    return this.base + done.map(({ modifies, sent }) => (modifies ? `+${sent.number}` : '')).join('')
  }

  /** Returns undefined for a call that already exists. */
  add(sent: SentCall): ReferenceCall | undefined {
    const namesakes = this.calls.filter((call) => call.sent.id === sent.id)
    const isTaken = this.#around.isTaken(sent.id)
    if (namesakes.some((call) => call.sent.number === sent.number)) return undefined
    const isClash = namesakes.length > 0
    const name = isTaken || isClash ? this.#around.mint() : sent.id
    const isUnrunnable = !this.#around.countCall() || isClash
    const call = referenceCall(name, sent, {
      isClash: isUnrunnable,
      isBatch: this.#around.plan.isBatch,
      lastRun: this.#lastRun(),
    })
    this.calls.push(call)
    if (this.#abort === 'all' && call.stage === 'waiting') this.#end(call, true)
    this.#scan()
    return call
  }

  release(...moments: unknown[]): void {
    // one by one: a call that starts may block the next one
    for (const call of this.calls) {
      if (!moments.includes(call.heldUntil)) continue
      call.heldUntil = undefined
      this.#scan()
    }
  }

  /** A body with possible effects has begun. */
  get hasEffects(): boolean {
    return this.calls.some(({ body, plan }) => body !== undefined && !plan.safe)
  }

  /** Calls were requested, and none of them ever began. */
  get isFruitless(): boolean {
    return this.calls.length > 0 && this.calls.every(({ body }) => body === undefined)
  }

  /** The state of each call. */
  get lost(): string[] {
    return this.calls.map((call) => discardedInWords(call.name, call.body !== undefined, call.stage === 'over'))
  }

  /** The reply broke off: calls that have not begun never will. */
  withdrawRest(): void {
    for (const call of this.calls) {
      if (call.stage === 'asking' || call.stage === 'waiting') this.#end(call, true)
    }
    this.#scan()
  }

  withdrawHeld(): void {
    for (const call of this.calls) if (call.heldUntil !== undefined && call.stage === 'waiting') this.#end(call, true)
    this.#scan()
  }

  interrupt(): void {
    if (this.#abort === 'all') return
    this.#abort = 'interrupt'
    this.#tell(({ plan, stage }) => plan.cancel || stage === 'asking')
  }

  abort(): void {
    this.#abort = 'all'
    this.#tell(() => true)
  }

  /** The state of each call at that time. */
  discard(): string[] {
    const { lost } = this
    this.isDiscarded = true
    this.abort()
    return lost
  }

  answer(question: number, answer: Answer): void {
    const call = this.calls.find((each) => each.question === question && each.stage === 'asking')
    if (call === undefined) return
    if (answer === 'allow') this.#permit(call)
    else this.#end(call, true)
    if (answer === 'deny and stop') {
      this.#around.stopTurn()
      this.abort()
    }
    this.#scan()
  }

  settle(body: number, isFailure: boolean, modifies: boolean): void {
    const call = this.calls.find((each) => each.body === body)
    if (call?.stage === 'running') this.#endByItself(call, isFailure, modifies)
    else if (call?.stage === 'stopping') this.#end(call, true)
    this.#scan()
  }

  /** Bodies that end without a move: at once, or because they were told to stop. */
  settleOthers(): void {
    const next = this.calls.find(
      ({ plan, stage }) =>
        (plan.instant && stage === 'running') || ((plan.instant || plan.obedient) && stage === 'stopping'),
    )
    if (next?.body === undefined) return
    this.settle(next.body, false, false)
    this.settleOthers()
  }

  /** The call whose progress is delivered. */
  reporting(body: number): ReferenceCall | undefined {
    if (this.isDiscarded) return undefined
    return this.calls.find((each) => each.body === body && (each.stage === 'running' || each.stage === 'stopping'))
  }

  giveUp(call: ReferenceCall): void {
    this.#end(call, true)
    this.#scan()
  }

  /** Results that can be delivered now: in emission order, up to the first that is missing. */
  takeReady(): ReferenceCall[] {
    const ready: ReferenceCall[] = []
    for (const call of this.isDiscarded ? [] : this.calls) {
      if (call.stage !== 'over') break
      if (!call.isYielded) ready.push(call)
      call.isYielded = true
    }
    return ready
  }

  #lastRun(): ReferenceCall['safeGroup'] | undefined {
    const last = this.calls.findLast(({ isAnswered }) => !isAnswered)
    return last?.isSafe === true ? last.safeGroup : undefined
  }

  #scan(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#start(next)
  }

  #next(): ReferenceCall | undefined {
    const executing = this.calls.filter(isExecuting)
    const isShared = executing.every(({ isSafe }) => isSafe) && this.#hasPlace
    const waiting = this.calls.filter(({ stage }) => stage === 'waiting')
    const barrier = waiting.findIndex(({ isSafe }) => !isSafe)
    const upTo = barrier < 0 ? waiting : waiting.slice(0, barrier + 1)
    return upTo.find(
      ({ heldUntil, isSafe }) => heldUntil === undefined && (executing.length === 0 || (isSafe && isShared)),
    )
  }

  /** Whether one more call may run; calls that wait for a person do not count. */
  get #hasPlace(): boolean {
    const atWork = this.calls.filter((call) => isExecuting(call) && call.stage !== 'asking')
    return atWork.length < this.#around.plan.maxConcurrency
  }

  /** If its slot is taken, the call waits for one and keeps the answer. */
  #permit(call: ReferenceCall): void {
    call.isPermitted = true
    if (this.#hasPlace) this.#begin(call)
    else call.stage = 'waiting'
  }

  #start(call: ReferenceCall): void {
    call.safeGroup.marks ??= this.marks
    const { plan } = call
    if (call.isPermitted) this.#begin(call)
    else if (failsAtOnce(call)) this.#endByItself(call, true, false)
    else if (this.#around.plan.isHooked && plan.hook === 'pre') {
      this.isHookStopped = true
      call.notes = 2
      this.#end(call, true)
    } else if (plan.asks) {
      call.question = this.#around.ask()
      call.stage = 'asking'
    } else this.#begin(call)
  }

  #begin(call: ReferenceCall): void {
    call.stage = 'running'
    call.body = this.#around.begin(call, call.isSafe ? (call.safeGroup.marks ?? '') : this.marks)
  }

  #endByItself(call: ReferenceCall, isFailure: boolean, modifies: boolean): void {
    call.modifies = modifies && !isFailure
    if (call.body !== undefined && this.#around.plan.isHooked && call.plan.hook === 'post') {
      this.isHookStopped = true
      call.notes = 1
    }
    this.#end(call, isFailure)
    if (!isFailure || !call.plan.cascades) return
    this.#abort = 'all'
    this.#tell(() => true)
  }

  #tell(isReached: (call: ReferenceCall) => boolean): void {
    for (const call of this.calls) {
      if (call.stage === 'over' || call.stage === 'stopping' || !isReached(call)) continue
      if (call.stage === 'running') {
        call.stage = 'stopping'
        call.deadline = this.#around.now + graceMs
      } else this.#end(call, true)
    }
    this.#scan()
  }

  #end(call: ReferenceCall, isError: boolean): void {
    call.stage = 'over'
    call.heldUntil = undefined
    call.isError = isError
  }
}
