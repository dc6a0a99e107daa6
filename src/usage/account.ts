import {
  type Amounts,
  type Budget,
  isNear,
  judgeOneMore,
  judgeReserve,
  type LimitName,
  type LimitReached,
} from '../../machines/index.ts'
import { type Clock, platformClock } from '../base/clock.ts'
import { ActiveTime } from './active-time.ts'
import { dearest, isSet, type Limits } from './limits.ts'
import {
  type CountedOf,
  noTokens,
  type Prices,
  type RequestOpened,
  type RequestSpent,
  type RunUsage,
  type Spent,
  UsageTotal,
} from './usage-total.ts'

export interface AccountOptions {
  readonly prices?: Prices | undefined
  readonly limits?: Limits | undefined
  /** The account that this one is part of: of a session for its run, of a run for its agents. */
  readonly parent?: Account | undefined
  /** It is an agent of the parent. */
  readonly isAgent?: boolean | undefined
  readonly clock?: Clock | undefined
  readonly now?: (() => number) | undefined
}

/** A run that a limit can end. */
export interface LimitedRun {
  /** `isHard`: time is up, so what is under way stops. */
  limitReached(reached: LimitReached, isHard: boolean): void
  limitNear(near: LimitReached): void
}

/** A request that has its reserve, or waits for it. */
export interface Claim {
  readonly wanted: Amounts
  readonly by: Account
  isGranted: boolean
  /** The number under which the log has the request, once it is under way. */
  number: number | undefined
  grant(): void
}

/** A request that was under way when its process ended. `isTurn`: its reply counts as far as it came. */
export interface CutRequest extends RequestOpened {
  readonly isTurn: boolean
}

const amounts = ['turns', 'inputTokens', 'outputTokens', 'costUsd'] as const

/** What a session, a run or an agent has used, and its limits. Everything counts for the accounts around it too. */
export class Account {
  readonly parent: Account | undefined
  readonly prices: Prices
  /** How deep it is inside other agents. */
  readonly depth: number
  readonly limits: Limits | undefined
  /** A limit applies, here or around. */
  readonly isLimited: boolean
  /** The input of a request is estimated. */
  readonly needsInput: boolean
  readonly needsOutput: boolean
  readonly needsCost: boolean
  /** The time in which something is under way is measured, here or around. */
  readonly isTimed: boolean
  readonly #total: UsageTotal
  readonly #time: ActiveTime | undefined
  /** Keeps what was spent, for sessions that survive their process. The outermost account that has it is used. */
  record: ((spent: Spent) => void) | undefined
  /** Calls and time since the last record. */
  #calls = 0
  #toolMs = 0
  /** The number of the last request that was opened. Kept by the outermost account. */
  #opened = 0
  readonly #reserved = { turns: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }
  /** Requests of the whole tree that wait for others, in the order in which they came. Kept by the outermost account. */
  #waiting: Claim[] = []
  #reached: { readonly reached: LimitReached; readonly isHard: boolean } | undefined
  readonly #warned = new Set<LimitName>()
  /** Those of agents included, the outermost first. */
  readonly #runs = new Set<LimitedRun>()

  constructor({ prices, limits, parent, isAgent = false, clock = platformClock, now = Date.now }: AccountOptions = {}) {
    this.parent = parent
    this.prices = prices ?? parent?.prices ?? {}
    this.limits = limits
    this.depth = (parent?.depth ?? 0) + (isAgent ? 1 : 0)
    this.isLimited = limits !== undefined || parent?.isLimited === true
    this.needsCost = isSet(limits?.costUsd) || parent?.needsCost === true
    this.needsInput = this.needsCost || isSet(limits?.inputTokens) || parent?.needsInput === true
    this.needsOutput = isSet(limits?.outputTokens) || parent?.needsOutput === true
    this.#total = new UsageTotal(this.prices, this.needsCost ? dearest(this.prices) : undefined)
    const maxMs = limits?.durationMs
    if (maxMs !== undefined) {
      this.#time = new ActiveTime(maxMs, clock, now, {
        near: () => this.#warn(),
        over: () => this.#reach({ limit: 'durationMs', used: this.#used('durationMs'), max: maxMs }, true),
      })
    }
    this.isTimed = maxMs !== undefined || parent?.isTimed === true
  }

  get usage(): RunUsage {
    if (this.#time !== undefined) this.#total.activeMs = this.#time.ms
    return this.#total.usage
  }

  /** What an earlier process has spent. */
  restore(usage: RunUsage): void {
    this.#total.restore(usage)
    this.#time?.restore(usage.activeMs ?? 0)
  }

  /**
   * One more call. False if a limit forbids it; then it does not count. `isKnown`: it was made in an earlier process.
   * `isCounted`: the usage has it already.
   */
  call(isKnown: boolean, isCounted = false): boolean {
    if (isCounted) return true
    if (this.isLimited && !isKnown && !this.#hasRoomFor('calls')) return false
    this.#calls++
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) each.#total.calls++
    if (this.isLimited) this.#checkNear()
    return true
  }

  /** A body has run. */
  tool(ms: number): void {
    this.#toolMs += ms
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) each.#total.toolMs += ms
  }

  /** One more agent inside. If a limit forbids it, everything ends before the agent's first request. */
  agent(session?: string): void {
    if (!this.#hasRoomFor('agents') || !this.#hasRoomFor('depth')) return
    this.#spend({ agents: 1, ...(session !== undefined && { of: { session } }) })
  }

  /** The request is under way. After a crash it is charged what it has reserved. */
  open(claim: Claim, model: string, by: string | undefined): void {
    const recorder = this.#recorder
    if (recorder === undefined) return
    claim.number = ++this.root.#opened
    const { inputTokens: input = 0, outputTokens: output = 0 } = claim.wanted
    recorder({ opens: { number: claim.number, by, model, assumed: { input, output } } })
  }

  request(request: RequestSpent, closes?: number): void {
    this.#spend({ request, ...(closes !== undefined && { closes }) })
  }

  /** Requests that an earlier process has made, and whose use nobody knows. */
  chargeCut(requests: readonly CutRequest[]): void {
    for (const { number, model, assumed, isTurn } of requests) {
      const request = { model, tokens: noTokens, assumed, ms: 0, isTurn, isRetried: false, isNew: true }
      this.request(request, number)
    }
  }

  /** Something is under way that counts for `durationMs`. */
  begin(): void {
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) each.#time?.begin()
  }

  end(): void {
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) each.#time?.end()
  }

  /** From now on the run is told of limits. */
  join(run: LimitedRun): void {
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) each.#runs.add(run)
  }

  leave(run: LimitedRun): void {
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) {
      each.#runs.delete(run)
      // the next run of a session may need less
      if (each.#runs.size === 0) each.#reached = undefined
    }
  }

  /** Reserves the amounts that a request may use: at once, or when those before it have ended. */
  reserve(run: LimitedRun, wanted: Amounts, grant: () => void): Claim {
    const claim: Claim = { wanted, by: this, isGranted: false, number: undefined, grant }
    const over = this.#over
    const { root } = this
    if (over !== undefined) run.limitReached(over.reached, over.isHard)
    else {
      root.#waiting.push(claim)
      if (root.#waiting[0] === claim) root.#serve()
    }
    return claim
  }

  /** The request has ended, or is not made. */
  release(claim: Claim): void {
    const { root } = this
    const wasFirst = root.#waiting[0] === claim
    root.#waiting = root.#waiting.filter((each) => each !== claim)
    if (claim.isGranted) this.#reserve(claim.wanted, -1)
    // an abort that ends several requests must not grant one of them what another gives back
    if (claim.isGranted || wasFirst) queueMicrotask(() => root.#serve())
    claim.isGranted = false
  }

  /** The turn is over. Returns its calls if its own record is to tell them: after a crash between two records they would count twice. */
  recordTurn(of?: CountedOf): number {
    // the turns of an agent are in a log of its own
    const isOwn = this.#recorder !== undefined && this.depth === 0
    const calls = isOwn ? this.#calls : 0
    if (isOwn) this.#calls = 0
    this.recordWork(of)
    return calls
  }

  /** The turn is over: its calls are recorded. `of`: its log and its reply. */
  recordWork(of?: CountedOf): void {
    const calls = this.#calls
    this.#calls = 0
    if (calls > 0) this.#recorder?.({ calls, ...(of !== undefined && { of }) })
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
    const activeMs = this.root.#time?.takeUnrecorded() ?? 0
    if (activeMs > 0) this.#recorder?.({ activeMs })
  }

  private get root(): Account {
    return this.parent === undefined ? this : this.parent.root
  }

  get #recorder(): Account['record'] {
    const outer: Account['record'] = this.parent === undefined ? undefined : this.parent.#recorder
    return outer ?? this.record
  }

  get #over(): { readonly reached: LimitReached; readonly isHard: boolean } | undefined {
    if (this.#reached !== undefined || this.parent === undefined) return this.#reached
    return this.parent.#over
  }

  /** Itself and the accounts around it that have limits. */
  get #limited(): Account[] {
    const outer: Account[] = this.parent === undefined ? [] : this.parent.#limited
    return this.limits === undefined ? outer : [this, ...outer]
  }

  #used(name: LimitName): number {
    if (name === 'durationMs') return this.#time?.ms ?? 0
    // a cost is always known where it is limited
    return name === 'depth' ? 0 : (this.#total[name] ?? 0)
  }

  get #budget(): Budget {
    const { turns, inputTokens, outputTokens, costUsd } = this.#total
    const used = { turns, inputTokens, outputTokens, costUsd, durationMs: this.#used('durationMs') }
    return { limits: this.limits ?? {}, used, reserved: this.#reserved }
  }

  #spend(spent: Spent): void {
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) each.#total.add(spent)
    this.#recorder?.(spent)
    if (this.isLimited) this.#checkNear()
  }

  #hasRoomFor(limit: 'calls' | 'agents' | 'depth'): boolean {
    for (const each of this.#limited) {
      const used = limit === 'depth' ? this.depth - each.depth : each.#used(limit)
      const reached = judgeOneMore({ limits: each.limits ?? {} }, limit, used)
      if (reached === undefined) continue
      each.#reach(reached, false)
      return false
    }
    return true
  }

  /** Grants what waits, in order, until one must go on waiting. */
  #serve(): void {
    for (;;) {
      const [claim] = this.#waiting
      if (claim === undefined) return
      const limited = claim.by.#limited
      const answer = judgeReserve(
        limited.map((each) => each.#budget),
        claim.wanted,
      )
      if (!answer.ok && answer.because === 'reserved') return
      this.#waiting.shift()
      if (answer.ok) {
        claim.isGranted = true
        claim.by.#reserve(claim.wanted, 1)
        claim.grant()
        continue
      }
      const { at, reached } = answer
      const over = limited[at] as Account
      over.#reach(reached, reached.limit === 'durationMs')
    }
  }

  #reserve(wanted: Amounts, sign: 1 | -1): void {
    for (let each: Account | undefined = this; each !== undefined; each = each.parent) {
      for (const name of amounts) each.#reserved[name] += sign * (wanted[name] ?? 0)
    }
  }

  #reach(reached: LimitReached, isHard: boolean): void {
    this.#reached ??= { reached, isHard }
    for (const run of [...this.#runs]) run.limitReached(reached, isHard)
  }

  #checkNear(): void {
    for (const each of this.#limited) each.#warn()
  }

  #warn(): void {
    const [outermost] = this.#runs
    // nobody to tell yet
    if (outermost === undefined) return
    for (const name of Object.keys(this.limits ?? {}) as LimitName[]) {
      const max = this.limits?.[name]
      if (max === undefined || name === 'depth' || this.#warned.has(name)) continue
      const used = this.#used(name)
      if (used === 0 || !isNear(used, max)) continue
      this.#warned.add(name)
      outermost.limitNear({ limit: name, used, max })
    }
  }
}
