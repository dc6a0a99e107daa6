import type { Entry } from './entry.ts'
import { errorText, judged } from './model-errors.ts'
import type { ReferenceCall } from './reference-call.ts'
import { ReferenceReader, storyIsOver } from './reference-reader.ts'
import { ReferenceReply } from './reference-reply.ts'
import { backoffMs, type QueryPlan } from './story.ts'

export interface Prediction {
  /** Each line with the number of the entry that caused it. */
  readonly yields: string[]
  readonly starts: string[]
  readonly requests: string[]
  readonly transcript: string[]
  readonly reason: string | undefined
}

/** The outcome of one reply. */
type Outcome =
  | 'ended'
  | 'steered'
  | 'aborted'
  | 'failed'
  | 'salvaged'
  | 'refused'
  | 'aborted between attempts'
  | 'not prepared'
  | 'limited'

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
  readonly #lines = ['user: go']
  reason: string | undefined
  #failures = 0
  #fruitless = 0
  #delayMs = 0
  #which: 'main' | 'fallback' = 'main'
  #preparations = 0
  #opened = 0

  /** As sent: thinking without anything after it is left out. */
  get transcript(): string[] {
    const isSent = (line: string, at: number): boolean => {
      if (line !== 'assistant: thinking') return true
      const next = this.#lines.slice(at + 1).find((each) => each !== 'assistant: thinking')
      return next?.startsWith('assistant:') === true
    }
    return this.#lines.filter(isSent)
  }

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
      if (outcome === 'limited') return this.#end('limit')
      const ending = this.#drain(outcome)
      this.#keepTurn()
      if (outcome !== 'salvaged') this.#failures = 0
      if (ending !== undefined) return this.#end(ending)
      if (this.attempt.isHookStopped) return this.#end('hook_stopped')
      if (outcome !== 'salvaged' && !this.#needsAnotherTurn) return this.#end('completed')
      if (turns >= this.plan.maxTurns) return this.#end('max_turns')
      if (outcome === 'salvaged' && !this.#waits()) {
        this.until(() => this.isQuiet)
        return this.#end('aborted_streaming')
      }
    }
  }

  /** The backoff; false if the query ended during it. */
  #waits(): boolean {
    this.timer = { due: this.now + this.#delayMs, setAt: this.at }
    this.until(() => this.abortReason !== undefined || (this.timer === undefined && this.isQuiet))
    return this.abortReason === undefined
  }

  /** One reply, with all its attempts. */
  #hearReply(): Outcome {
    for (;;) {
      const opened = this.#open()
      if (opened !== 'opened') return opened
      this.until(() => this.isStreamOver || this.isSteered || this.abortReason !== undefined)
      this.listeningSince = undefined
      const { hasEffects } = this.attempt
      const retry = this.#retry()
      if (retry === undefined) {
        if (this.failure !== undefined) return 'failed'
        if (this.abortReason !== undefined) return 'aborted'
        if (this.isSteered) return 'steered'
        return this.reply.stopReason === 'refusal' && !hasEffects ? 'refused' : 'ended'
      }
      this.#charge(hasEffects)
      this.hasFailed = true
      this.#delayMs = retry.delayMs
      if (retry.isFallback) {
        this.#which = 'fallback'
        this.#failures = 0
      }
      if (hasEffects) {
        this.salvage(retry)
        return 'salvaged'
      }
      this.discard(retry)
      if (!this.#waits()) return 'aborted between attempts'
    }
  }

  /** Why and when the model is asked again; undefined if the stream succeeded or no attempt is left. */
  #retry(): { errorKind: string; error: string; delayMs: number; isFallback: boolean } | undefined {
    const canFallBack = this.plan.hasFallback && this.#which === 'main'
    if (this.isRestarted) {
      const error = 'The service restarted its reply.'
      return { errorKind: 'restarted', error, delayMs: 0, isFallback: false }
    }
    if (this.failure === undefined) {
      const isRefused = this.isStreamOver && this.reply.stopReason === 'refusal'
      if (!isRefused || !canFallBack) return undefined
      this.yield('reply refusal')
      return { errorKind: 'refusal', error: 'The model refused to continue.', delayMs: 0, isFallback: true }
    }
    this.#failures++
    const { kind, isFatal, isLong } = judged(this.failure)
    const mayRetry = !isFatal && !isLong && this.#failures <= this.plan.attempts
    if (isFatal || (!mayRetry && !canFallBack)) return undefined
    const delayMs = mayRetry ? backoffMs(this.#failures) : 0
    return { errorKind: kind, error: errorText(this.failure), delayMs, isFallback: !mayRetry }
  }

  #charge(counts: boolean): void {
    if (this.reply.hasBegun) this.budget.reply(counts)
  }

  #takeSent(): void {
    for (const text of this.sent.splice(0)) {
      this.#lines.push(`user: ${text}`)
      this.yield(`user ${text}`)
    }
  }

  #open(): 'opened' | 'aborted between attempts' | 'not prepared' | 'limited' {
    do {
      this.#takeSent()
      this.isSteered = false
      this.isPrepared = this.plan.prepares !== 'later'
      const isFailing = ++this.#preparations === this.plan.unprepared
      this.until(() => this.isPrepared || this.abortReason !== undefined)
      if (this.abortReason !== undefined) return 'aborted between attempts'
      if (isFailing) return 'not prepared'
      // a message with an interrupt is part of the request; any other that was sent meanwhile waits for the next turn
    } while (this.isSteered)
    if (this.budget.forbidsRequest) return 'limited'
    this.isRestarted = false
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

  /** Waits until each call has its result. Returns how the query ends, if it does. */
  #drain(outcome: 'ended' | 'steered' | 'aborted' | 'failed' | 'salvaged' | 'refused'): string | undefined {
    const isWhole = outcome === 'ended' && this.reply.isWhole
    if (this.reply.stopReason !== undefined && outcome !== 'salvaged') this.yield(`reply ${this.reply.stopReason}`)
    if (outcome !== 'salvaged') this.#charge(outcome !== 'refused')
    if (outcome === 'refused') {
      this.yield('system model_refusal')
      this.dropAttempt()
      this.newAttempt()
    }
    if (outcome === 'aborted') this.#abortCalls()
    if (outcome === 'steered') this.attempt.interrupt()
    for (const { text, order } of outcome === 'refused' ? [] : this.reply.partial) {
      this.say(`says ${text}`, `assistant: ${text}`, order)
    }
    if (outcome === 'salvaged') this.attempt.withdrawRest()
    else if (isWhole) this.attempt.release('nextBlock', 'turnEnded')
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
    if (heard !== undefined)
      return outcome === 'aborted' || outcome === 'failed' ? 'aborted_streaming' : 'aborted_tools'
    return outcome === 'failed' ? 'model_error' : undefined
  }

  get #isDrained(): boolean {
    return this.attempt.isDrained && this.isQuiet
  }

  get #needsAnotherTurn(): boolean {
    const { stopReason } = this.reply
    if (this.sent.length > 0 || stopReason === 'pause_turn') return true
    return this.attempt.calls.length > 0 && stopReason !== 'refusal' && this.#fruitless < 3
  }

  /** Replies before results, results before notes. */
  #keepTurn(): void {
    const orderOf = (call: ReferenceCall): number => this.orders.get(call) ?? 0
    const calls = this.attempt.calls.toSorted((one, other) => orderOf(one) - orderOf(other))
    const isCut = this.reply.stopReason !== undefined && !this.reply.isWhole
    this.#fruitless = isCut && this.attempt.isFruitless ? this.#fruitless + 1 : 0
    this.#lines.push(...this.said.map(({ line }) => line))
    for (const { name, isError } of calls) this.#lines.push(`user: result ${name} ${isError ? 'error' : 'done'}`)
    for (const { notes } of calls) this.#lines.push(...Array.from({ length: notes }, () => 'user: note'))
    for (const { name } of calls) this.taken.add(name)
    this.marks = this.attempt.marks
  }

  #end(reason: string): void {
    this.#takeSent()
    const isAborted = reason.startsWith('aborted')
    const why = this.abortReason?.reason
    if (isAborted && why !== 'interrupt') {
      const text = `[The user stopped this ${reason === 'aborted_tools' ? 'turn while tools ran' : 'reply'}.]`
      this.#lines.push(`user: ${text}`)
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
