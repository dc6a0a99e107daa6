import type { Entry } from './entry.ts'
import type { Failure } from './model-errors.ts'
import { argumentsOf } from './query-under-test.ts'
import { ReferenceAttempt, type Surroundings } from './reference-attempt.ts'
import { ReferenceBudget } from './reference-budget.ts'
import type { ReferenceCall } from './reference-call.ts'
import { ReferenceReply } from './reference-reply.ts'
import { retryInWords } from './seen.ts'
import { idleMs, type QueryPlan, tickMs, toolName, unknownName } from './story.ts'

export const storyIsOver = new Error('the story ends before the query does')

/**
 * The log of a story, read line by line by somebody who waits for what takes it further: what each line means for the
 * stream, the calls and the clock, and what comes of it.
 */
export class ReferenceReader implements Surroundings {
  readonly yields: string[] = []
  readonly starts: string[] = []
  readonly requests: string[] = []
  readonly plan: QueryPlan
  now = 0
  marks = ''
  readonly #log: readonly Entry[]
  protected at = 0
  #isTicking = false
  #isSilent = false
  protected isHostAborted = false
  protected abortReason: { reason: string | undefined } | undefined
  protected isSteered = false
  protected readonly sent: string[] = []
  #minted = 0
  #questions = 0
  protected readonly taken = new Set<string>()
  protected readonly attempts: ReferenceAttempt[] = []
  protected attempt = new ReferenceAttempt(this)
  protected readonly orders = new Map<ReferenceCall, number>()
  /** In the order in which the blocks began. */
  protected said: { readonly order: number; readonly line: string }[] = []
  #given = 0
  protected reply = new ReferenceReply()
  /** Since when the stream is awaited; undefined if it is not open or has to wait for old bodies. */
  protected listeningSince: number | undefined
  protected failure: Failure | undefined
  /** The service began another reply after effects. */
  protected isRestarted = false
  protected isStreamOver = false
  protected isPrepared = false
  /** Fires with a later move of the clock than the one that set it. */
  protected timer: { due: number; setAt: number } | undefined
  protected hasFailed = false
  protected readonly budget: ReferenceBudget
  /** The model has failed for good; only the calls are awaited. */
  protected isFailing = false

  constructor(plan: QueryPlan, log: readonly Entry[]) {
    this.plan = plan
    this.#log = log
    this.budget = new ReferenceBudget(plan.limits, () => this.yield('system limit_warning'))
  }

  countCall = (): boolean => this.budget.call()

  isTaken = (id: string): boolean => this.taken.has(id)
  mint = (): string => `new${++this.#minted}`
  ask = (): number => this.#questions++

  begin({ name }: ReferenceCall, marks: string): number {
    this.starts.push(`${this.at}: ${name} with context ${marks}`)
    return this.starts.length - 1
  }

  stopTurn(): void {
    // the controller fires only once
    if (!this.isHostAborted) this.abort('permission_stop')
    this.isHostAborted = true
  }

  /** Nothing continues or ends while a body of a discarded attempt still runs. */
  protected get isQuiet(): boolean {
    return this.attempts.every(({ isIdle }) => isIdle)
  }

  protected abort(reason: string | undefined): void {
    if (this.abortReason === undefined || this.abortReason.reason === 'interrupt') this.abortReason = { reason }
  }

  protected newAttempt(): void {
    this.attempt = new ReferenceAttempt(this)
    this.attempts.push(this.attempt)
    this.said = []
    this.#given = 0
  }

  protected discard(retry: { errorKind: string; error: string; delayMs: number; isFallback: boolean }): void {
    this.yield(retryInWords({ ...retry, discarded: this.#given, lost: this.dropAttempt() }))
  }

  /** What its calls have changed in the context goes with them. */
  protected dropAttempt(): string[] {
    this.marks = this.attempt.base
    return this.attempt.discard()
  }

  /** The reply counts as far as it came; the host is told what had run. */
  protected salvage(retry: { errorKind: string; error: string; delayMs: number; isFallback: boolean }): void {
    this.yield(retryInWords({ ...retry, discarded: 0, lost: this.attempt.lost }))
  }

  protected yield(line: string): void {
    if (!this.#isSilent) this.yields.push(`${this.at}: ${line}`)
  }

  protected say(line: string, inTranscript: string, order: number): void {
    this.#given++
    this.said = [...this.said, { order, line: inTranscript }].toSorted((one, other) => one.order - other.order)
    this.yield(line)
  }

  /** Reads on until the condition holds. Due timers come first. */
  protected until(isSo: () => boolean): void {
    while (!isSo()) {
      if (this.#isTicking && this.#fireNext()) continue
      this.#isTicking = false
      this.#deliver()
      if (isSo()) return
      this.#read()
    }
  }

  #deliver(): void {
    for (const attempt of this.attempts) attempt.settleOthers()
    const ready = this.attempt.takeReady()
    for (const { name, isError, notes } of ready) {
      this.#given += 1 + notes
      this.yield(`result ${name} ${isError ? 'error' : 'done'}`)
      for (let note = 0; note < notes; note++) this.yield(`note ${name}`)
    }
    if (ready.length > 0) this.marks = this.attempt.marks
    if (this.listeningSince === Number.POSITIVE_INFINITY && this.isQuiet) {
      this.listeningSince = this.now
    }
  }

  /** Fires the earliest due timer. */
  #fireNext(): boolean {
    const timers: { due: number; fire: () => void }[] = this.attempts.flatMap((attempt) =>
      attempt.calls
        .filter(({ stage }) => stage === 'stopping')
        .map((call) => ({ due: call.deadline, fire: () => attempt.giveUp(call) })),
    )
    if (this.timer !== undefined && this.timer.setAt < this.at) {
      timers.push({ due: this.timer.due, fire: () => (this.timer = undefined) })
    }
    if (this.listeningSince !== undefined) {
      timers.push({ due: this.listeningSince + idleMs, fire: () => this.#fail({ word: 'stall', asEvent: false }) })
    }
    const [first] = timers.filter(({ due }) => due <= this.now).sort((one, other) => one.due - other.due)
    first?.fire()
    return first !== undefined
  }

  /** A reply with a stop reason is complete, even if its stream fails. */
  #fail(failure: Failure): void {
    this.listeningSince = undefined
    if (this.reply.stopReason === undefined) this.failure = failure
    this.isStreamOver = true
  }

  #read(): void {
    const entry = this.#log[this.at++]
    if (entry === undefined) throw storyIsOver
    if (entry.is === 'tick') {
      this.now += tickMs
      this.#isTicking = true
    } else if (entry.is === 'aborts') this.abort(entry.reason)
    else if (entry.is === 'interrupts') this.abort('interrupt')
    else if (entry.is === 'host aborts') {
      if (!this.isHostAborted) this.abort(entry.reason)
      this.isHostAborted = true
    } else if (entry.is === 'leaves') {
      this.#isSilent = true
      this.abort('reader_left')
    } else if (entry.is === 'sends' || entry.is === 'steers') {
      // a message sent while the query ends is too late; a message with an interrupt is kept
      const isTooLate = this.isFailing || this.abortReason !== undefined
      if (entry.is === 'steers' || !isTooLate) this.sent.push(entry.text)
      this.isSteered ||= entry.is === 'steers'
    } else if (entry.is === 'prepared') this.isPrepared = true
    else if (entry.is === 'answers') for (const each of this.attempts) each.answer(entry.question, entry.answer)
    else if (entry.is === 'body finishes')
      for (const each of this.attempts) each.settle(entry.body, false, entry.modifies)
    else if (entry.is === 'body fails') for (const each of this.attempts) each.settle(entry.body, true, false)
    else if (entry.is === 'body reports') this.#reportProgress(entry.body)
    else this.#listen(entry)
  }

  #reportProgress(body: number): void {
    for (const attempt of this.attempts) {
      const call = attempt.reporting(body)
      if (call !== undefined) this.yield(`progress ${call.name}`)
    }
  }

  #listen(entry: Entry): void {
    const reply = this.reply
    if (this.listeningSince === undefined) return
    this.listeningSince = this.now
    if (entry.is === 'announces' || entry.is === 'stops') reply.hasBegun = true
    if (entry.is === 'opens text' || entry.is === 'opens call') {
      reply.openBlock(entry)
      this.attempt.release('nextBlock')
    } else if (entry.is === 'closes') this.#hearBlock(entry.index)
    else if (entry.is === 'announces') this.#hearStart(entry.id)
    else if (entry.is === 'stops') {
      // a reply that was cut off stays so
      if (reply.stopReason === undefined || reply.isWhole) reply.stopReason = entry.reason
      if (reply.isWhole) this.attempt.release('nextBlock')
    } else if (entry.is === 'stream breaks') this.#fail({ word: entry.error, asEvent: entry.asEvent })
    else if (entry.is === 'stream ends') {
      if (reply.stopReason === undefined) this.#fail({ word: 'cut', asEvent: false })
      else this.isStreamOver = true
    }
  }

  #hearBlock(index: number): void {
    const block = this.reply.closeBlock(index)
    if (block?.call !== undefined) {
      const call = this.attempt.add(block.call)
      if (call !== undefined) this.#sayCall(call, block.order)
    } else if (block?.isThinking === true) this.say('thinking', 'assistant: thinking', block.order)
    else if (block !== undefined) this.say(`says ${block.text}`, `assistant: ${block.text}`, block.order)
  }

  #sayCall(call: ReferenceCall, order: number): void {
    const { name, sent } = call
    const { plan, number } = sent
    this.orders.set(call, order)
    const tool = plan.fault === 'unknown' ? unknownName : toolName(plan)
    const input = plan.fault === 'broken' || plan.fault === 'array' ? '{}' : argumentsOf(number, plan)
    this.say(`calls ${name} ${tool}`, `assistant: call ${name} ${tool} ${input}`, order)
  }

  /** The same reply started twice is one reply; another one replaces it. */
  #hearStart(id: string): void {
    const reply = this.reply
    if (reply.id === id) return
    const isAnother = reply.id !== undefined
    if (isAnother && reply.stopReason !== undefined) {
      this.listeningSince = undefined
      this.isStreamOver = true
      return
    }
    if (isAnother && this.attempt.hasEffects) {
      this.listeningSince = undefined
      this.isRestarted = true
      this.isStreamOver = true
      return
    }
    if (!isAnother) {
      reply.id = id
      return
    }
    reply.begin(id)
    const error = 'The service restarted its reply.'
    this.discard({ errorKind: 'restarted', error, delayMs: 0, isFallback: false })
    this.newAttempt()
    // nothing more is read until the bodies of the old reply have ended
    this.listeningSince = Number.POSITIVE_INFINITY
  }
}
