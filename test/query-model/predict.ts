import type { Entry } from './entry.ts'
import { errorText, judged } from './model-errors.ts'
import { ReferenceReader, storyIsOver } from './reference-reader.ts'
import { ReferenceReply } from './reference-reply.ts'
import { backoffMs, type QueryPlan } from './story.ts'

export interface Prediction {
  /** Each line with the number of the entry that brings it about. */
  readonly yields: string[]
  readonly starts: string[]
  readonly requests: string[]
  readonly transcript: string[]
  readonly reason: string | undefined
}

/** How one reply came out. */
type Outcome = 'ended' | 'steered' | 'aborted' | 'failed' | 'aborted between attempts' | 'not prepared'

/**
 * What the contract says of a query, told after the fact: a program that reads the log of all that happened from its
 * first line to its last, and at each point waits for the line that takes it further.
 */
export function predict(plan: QueryPlan, log: readonly Entry[]): Prediction {
  const teller = new Teller(plan, log)
  try {
    teller.tell()
  } catch (error) {
    if (error !== storyIsOver) throw error
  }
  return teller
}

class Teller extends ReferenceReader implements Prediction {
  readonly transcript = ['user: go']
  reason: string | undefined
  #which: 'main' | 'fallback' = 'main'
  #preparations = 0
  #opened = 0

  tell(): void {
    if (this.plan.before === 'send') this.sent.push('early')
    if (this.plan.before === 'abort' || this.plan.before === 'host aborted') {
      this.abort('early')
      return this.#end('aborted_streaming')
    }
    for (let turns = 1; ; turns++) {
      const outcome = this.#hearReply()
      if (outcome === 'aborted between attempts') {
        this.until(() => this.isQuiet)
        return this.#end('aborted_streaming')
      }
      if (outcome === 'not prepared') return this.#end('model_error')
      const ending = this.#drain(outcome)
      this.#keepTurn()
      if (ending !== undefined) return this.#end(ending)
      if (this.attempt.isHookStopped) return this.#end('hook_stopped')
      if (!this.#isExpected) return this.#end('completed')
      if (turns >= this.plan.maxTurns) return this.#end('max_turns')
    }
  }

  /** One reply, in as many attempts as it takes. */
  #hearReply(): Outcome {
    for (let failures = 1; ; failures++) {
      const opened = this.#open()
      if (opened !== 'opened') return opened
      this.until(() => this.isStreamOver || this.isSteered || this.abortReason !== undefined)
      this.listeningSince = undefined
      if (this.failure === undefined) {
        if (this.abortReason !== undefined) return 'aborted'
        return this.isSteered ? 'steered' : 'ended'
      }
      const { kind, isFatal, isLong } = judged(this.failure)
      const mayRetry = !isFatal && !isLong && failures <= this.plan.attempts
      const mayFallBack = !isFatal && this.plan.hasFallback && this.#which === 'main'
      if (!mayRetry && !mayFallBack) return 'failed'
      this.hasFailed = true
      const delayMs = mayRetry ? backoffMs(failures) : 0
      this.discard({ errorKind: kind, error: errorText(this.failure), delayMs, isFallback: !mayRetry })
      if (!mayRetry) {
        this.#which = 'fallback'
        failures = 0
      }
      this.timer = { due: this.now + delayMs, setAt: this.at }
      const old = this.attempt
      this.until(() => this.abortReason !== undefined || (this.timer === undefined && old.isIdle))
      if (this.abortReason !== undefined) return 'aborted between attempts'
    }
  }

  #takeSent(): void {
    for (const text of this.sent.splice(0)) {
      this.transcript.push(`user: ${text}`)
      this.yield(`user ${text}`)
    }
  }

  #open(): 'opened' | 'aborted between attempts' | 'not prepared' {
    this.#takeSent()
    this.isPrepared = this.plan.prepares !== 'later'
    const isFailing = ++this.#preparations === this.plan.unprepared
    this.until(() => this.isPrepared || this.abortReason !== undefined)
    if (this.abortReason !== undefined) return 'aborted between attempts'
    if (isFailing) return 'not prepared'
    // what was sent meanwhile waits for the next turn, and interrupts nothing
    this.isSteered = false
    this.newAttempt()
    this.reply = new ReferenceReply()
    this.requests.push(
      `${this.at}: ${this.#which} hears ${this.transcript.length} blocks up to: ${this.transcript.at(-1)}`,
    )
    const word = this.plan.openings[this.#opened++]
    this.failure = word && { word, asEvent: false }
    this.isStreamOver = word !== undefined
    this.listeningSince = this.now
    return 'opened'
  }

  /** Waits until each call has its result. Says how the query ends, if it does. */
  #drain(outcome: 'ended' | 'steered' | 'aborted' | 'failed'): string | undefined {
    const isWhole = outcome === 'ended' && this.reply.isWhole
    if (outcome === 'aborted') this.#abortCalls()
    if (outcome === 'steered') this.attempt.interrupt()
    for (const text of this.reply.partial) this.say(`says ${text}`, `assistant: ${text}`)
    if (isWhole) this.attempt.release('movedOn', 'turnEnded')
    else this.attempt.withdrawHeld()
    this.isFailing = outcome === 'failed'
    let heard = this.abortReason
    this.isSteered = false
    for (;;) {
      this.until(() => this.#isDrained || this.isSteered || heard !== this.abortReason)
      if (heard !== this.abortReason) this.#abortCalls()
      else if (this.isSteered && outcome !== 'failed' && heard === undefined) this.attempt.interrupt()
      else if (this.#isDrained) break
      heard = this.abortReason
      this.isSteered = false
    }
    if (heard !== undefined) return outcome === 'ended' || outcome === 'steered' ? 'aborted_tools' : 'aborted_streaming'
    return outcome === 'failed' ? 'model_error' : undefined
  }

  get #isDrained(): boolean {
    return this.attempt.isDrained && this.isQuiet
  }

  get #isExpected(): boolean {
    const { stopReason } = this.reply
    if (this.sent.length > 0 || stopReason === 'pause_turn') return true
    return this.attempt.calls.length > 0 && stopReason !== 'refusal'
  }

  /** Replies before results, results before notes. */
  #keepTurn(): void {
    const { calls } = this.attempt
    this.transcript.push(...this.said)
    for (const { name, isError } of calls) this.transcript.push(`user: result ${name} ${isError ? 'error' : 'done'}`)
    for (const { notes } of calls) this.transcript.push(...Array.from({ length: notes }, () => 'user: note'))
    for (const { name } of calls) this.taken.add(name)
    this.marks = this.attempt.marks
  }

  #end(reason: string): void {
    this.#takeSent()
    const isAborted = reason.startsWith('aborted')
    const why = this.abortReason?.reason
    if (isAborted && why !== 'interrupt') {
      const text = `[The user stopped this ${reason === 'aborted_tools' ? 'turn while tools ran' : 'reply'}.]`
      this.transcript.push(`user: ${text}`)
      this.yield(`user ${text}`)
    }
    this.reason = reason
    this.yields.push(`${this.at}: ends: ${reason}${isAborted ? ` (${why})` : ''}`)
  }

  #abortCalls(): void {
    if (this.abortReason?.reason !== 'interrupt') return this.attempt.abort()
    this.attempt.interrupt()
  }
}
