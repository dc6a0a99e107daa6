import { type PlannedLimits, replyTokens } from './story.ts'

/** What the contract says of limits on one query, whose replies never tell their usage. */
export class ReferenceBudget {
  readonly #limits: PlannedLimits
  readonly #used = { turns: 0, calls: 0, outputTokens: 0 }
  readonly #warned = new Set<string>()
  readonly #warn: () => void
  #isOver = false

  constructor(limits: PlannedLimits = {}, warn: () => void) {
    this.#limits = limits
    this.#warn = warn
  }

  /** A request could break a limit, so it is not made. */
  get forbidsRequest(): boolean {
    const { turns = Number.POSITIVE_INFINITY, outputTokens = Number.POSITIVE_INFINITY } = this.#limits
    return this.#isOver || this.#used.turns + 1 > turns || this.#used.outputTokens + replyTokens > outputTokens
  }

  /** One more call. False if it may not run. */
  call(): boolean {
    if (this.#used.calls + 1 > (this.#limits.calls ?? Number.POSITIVE_INFINITY)) {
      this.#isOver = true
      return false
    }
    this.#used.calls++
    this.#check()
    return true
  }

  /** A reply has begun, and is over. `counts`: it stays in the conversation. */
  reply(counts: boolean): void {
    this.#used.outputTokens += replyTokens
    if (counts) this.#used.turns++
    this.#check()
  }

  #check(): void {
    for (const name of Object.keys(this.#limits) as (keyof PlannedLimits)[]) {
      const used = this.#used[name]
      if (this.#warned.has(name) || used === 0 || used < 0.8 * (this.#limits[name] ?? 0)) continue
      this.#warned.add(name)
      this.#warn()
    }
  }
}
