import { type Amounts, judgeOneMore, judgeReserve, type LimitName, type LimitReached } from '../../../machines/index.ts'
import type { Clock } from '../../base/clock.ts'
import { ActiveTime } from '../../usage/active-time.ts'
import type { Limits } from '../../usage/limits.ts'
import { type ModelUsage, UsageTotal } from '../../usage/usage-total.ts'
import { type Agenda, toMicros } from './agenda.ts'

/** A request of the recording: what it may use, and what it used. */
export interface ReplayedRequest {
  readonly wanted: Amounts
  /** Undefined if no reply began. */
  readonly used: ModelUsage | undefined
  readonly grant: () => void
}

/** What a whole conversation uses, judged by the functions that judge a real one. Times are in microseconds. */
export class SpendingReplay {
  reached: { readonly reached: LimitReached; readonly at: number } | undefined
  /** When time is up, so what is under way stops. */
  stoppedAt: number | undefined
  readonly #limits: Limits
  readonly #agenda: Agenda
  readonly #total = new UsageTotal()
  readonly #time: ActiveTime | undefined
  #waiting: ReplayedRequest[] = []
  readonly #open = new Set<ReplayedRequest>()

  constructor(limits: Limits, agenda: Agenda) {
    this.#limits = limits
    this.#agenda = agenda
    const { durationMs: max } = limits
    if (max === undefined) return
    const over = (): void => this.#reach({ limit: 'durationMs', used: this.#used('durationMs'), max }, true)
    this.#time = new ActiveTime(max, clockOf(agenda), () => agenda.now / 1_000, { near: () => undefined, over })
  }

  /** Granted at once, when the requests before it have ended, or never. */
  reserve(request: ReplayedRequest): void {
    if (this.reached !== undefined) return
    this.#waiting.push(request)
    if (this.#waiting[0] === request) this.#serve()
  }

  release(request: ReplayedRequest): void {
    if (!this.#open.delete(request)) return
    const { used: usage } = request
    const nothing = { calls: 0, agents: 0, retries: 0, modelMs: 0, toolMs: 0 }
    if (usage !== undefined) this.#total.restore({ ...nothing, turns: 1, models: { model: usage } })
    this.#time?.end()
    this.#serve()
  }

  /** False if a limit forbids it; then it does not count. */
  oneMore(limit: 'calls' | 'agents' | 'depth', depth = 0): boolean {
    const used = limit === 'depth' ? depth : this.#used(limit)
    const reached = judgeOneMore({ limits: this.#limits }, limit, used)
    if (reached !== undefined) this.#reach(reached, false)
    else if (limit !== 'depth') this.#total[limit]++
    return reached === undefined
  }

  /** A hook or a body is under way. */
  begin(): void {
    this.#time?.begin()
  }

  end(): void {
    this.#time?.end()
  }

  #used(name: LimitName): number {
    // sums of fractions of milliseconds are a little off
    if (name === 'durationMs') return toMicros(this.#time?.ms ?? 0) / 1_000
    return name === 'depth' ? 0 : (this.#total[name] ?? 0)
  }

  #serve(): void {
    while (this.reached === undefined) {
      const [request] = this.#waiting
      if (request === undefined) return
      const { turns, inputTokens, outputTokens, costUsd } = this.#total
      const used = { turns, inputTokens, outputTokens, costUsd, durationMs: this.#used('durationMs') }
      const answer = judgeReserve([{ limits: this.#limits, used, reserved: this.#reserved }], request.wanted)
      if (!answer.ok && answer.because === 'reserved') return
      this.#waiting.shift()
      if (!answer.ok) return this.#reach(answer.reached, answer.reached.limit === 'durationMs')
      this.#open.add(request)
      this.#time?.begin()
      request.grant()
    }
  }

  get #reserved(): Amounts {
    const sum = { turns: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }
    for (const { wanted } of this.#open) {
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += wanted[name] ?? 0
    }
    return sum
  }

  #reach(reached: LimitReached, isHard: boolean): void {
    this.reached ??= { reached, at: this.#agenda.now }
    // time may also run out while the rest finishes
    if (isHard) this.stoppedAt ??= this.#agenda.now
  }
}

/** Before everything else that is due at the same time: what is used up has no room for more. */
const first = Number.MIN_SAFE_INTEGER

const clockOf = (agenda: Agenda): Clock => ({
  setTimeout(act, ms) {
    const timer = { isSet: true }
    agenda.add(agenda.now + toMicros(ms), first, () => timer.isSet && act())
    return timer
  },
  clearTimeout(timer) {
    Object.assign(timer as object, { isSet: false })
  },
})
