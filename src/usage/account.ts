import { type Prices, type RequestSpent, type RunUsage, type Spent, UsageTotal } from './usage-total.ts'

export interface AccountOptions {
  readonly prices?: Prices | undefined
  /** The account that this one is part of: of a session for its run, of a run for its agents. */
  readonly parent?: Account | undefined
}

/** What a session, a run or an agent has used. Everything counts for the accounts around it too. */
export class Account {
  readonly parent: Account | undefined
  readonly prices: Prices
  readonly #total: UsageTotal
  /** Keeps what was spent, for sessions that survive their process. The outermost account that has it is used. */
  record: ((spent: Spent) => void) | undefined
  /** Calls and time since the last record. */
  #calls = 0
  #toolMs = 0

  constructor({ prices, parent }: AccountOptions = {}) {
    this.parent = parent
    this.prices = prices ?? parent?.prices ?? {}
    this.#total = new UsageTotal(this.prices)
  }

  get usage(): RunUsage {
    return this.#total.usage
  }

  /** What an earlier process has spent. */
  restore(usage: RunUsage): void {
    this.#total.restore(usage)
  }

  /** A call was made. Counted here and recorded with the turn. */
  call(): void {
    this.#calls++
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) each.#total.calls++
  }

  /** A body has run. */
  tool(ms: number): void {
    this.#toolMs += ms
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) each.#total.toolMs += ms
  }

  agent(): void {
    this.#spend({ agents: 1 })
  }

  request(request: RequestSpent): void {
    this.#spend({ request })
  }

  /** The turn is over: its calls are recorded. */
  recordWork(): void {
    const calls = this.#calls
    this.#calls = 0
    if (calls > 0) this.#recorder?.({ calls })
    this.recordTime()
  }

  /** The turn is not over: a resumed run counts its calls again. */
  dropWork(): void {
    const calls = this.#calls
    this.#calls = 0
    if (this.#recorder === undefined) return
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) each.#total.calls -= calls
    this.recordTime()
  }

  recordTime(): void {
    const toolMs = this.#toolMs
    this.#toolMs = 0
    if (toolMs > 0) this.#recorder?.({ toolMs })
  }

  get #recorder(): Account['record'] {
    const outer: Account['record'] = this.parent === undefined ? undefined : this.parent.#recorder
    return outer ?? this.record
  }

  #spend(spent: Spent): void {
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) each.#total.add(spent)
    this.#recorder?.(spent)
  }
}
