import { conflictOf, type ResourceKeys } from '../call/resource-keys.ts'
import { blockerOf, KeyTraffic, type Use, usesOf } from './key-traffic.ts'

/** Reports the end of a wait. Called when the book has finished its step. */
export interface LockWait {
  granted(): void
  /** It would wait for ever: what holds its keys waits, in the end, for the call that it runs inside of. */
  refused(holders: readonly LockClaim[]): void
}

/** The keys of one call in a book that several executors share. */
export class LockClaim {
  readonly id: string
  readonly name: string
  /** The call that this one runs inside of. */
  readonly outer: LockClaim | undefined
  /** The session that it belongs to, for people. */
  readonly session: string | undefined
  state: 'new' | 'waiting' | 'granted' | 'released' = 'new'
  /** Position in the order of arrival. */
  index = -1
  keys: ResourceKeys = { reads: [], writes: [] }
  uses: readonly (readonly [string, Use])[] = []
  wait: LockWait | undefined

  constructor(id: string, name: string, outer: LockClaim | undefined, session?: string) {
    this.id = id
    this.name = name
    this.outer = outer
    this.session = session
  }

  isInside(other: LockClaim): boolean {
    for (let { outer } = this as LockClaim; outer !== undefined; outer = outer.outer) if (outer === other) return true
    return false
  }

  /** A call around it holds keys. The call of an agent holds none. */
  get isNested(): boolean {
    for (let { outer } = this as LockClaim; outer !== undefined; outer = outer.outer) {
      if (outer.state === 'granted') return true
    }
    return false
  }

  conflictsWith(other: LockClaim): boolean {
    return !this.isInside(other) && conflictOf(this.keys, other.keys) !== undefined
  }
}

const isWaiting = ({ state }: LockClaim): boolean => state === 'waiting'

/**
 * Keys that several executors share. A claim gets all its keys at once: when it conflicts with no claim that holds, and
 * with no earlier one that waits. So claims that do not run inside each other can never wait in a circle.
 *
 * A call that holds keys may run calls inside of it. Such a call does not conflict with the calls around it, and passes
 * earlier claims that wait, directly or not, for one of those. If it still waits in a circle, it is refused.
 */
export class LockBook {
  readonly #claims = new Set<LockClaim>()
  readonly #keys = new Map<string, { readonly traffic: KeyTraffic<LockClaim>; claims: number }>()
  /** Claims that wait, filed under one claim that they wait for. */
  readonly #waitingFor = new Map<LockClaim, LockClaim[]>()
  /** Claims that wait inside of a call that holds keys. There are hardly ever any, so each step looks at all of them. */
  readonly #nested = new Set<LockClaim>()
  /** The keys that claims wait for, until the next change. */
  readonly #known = { conflicts: new Map<LockClaim, LockClaim[]>(), blockers: new Map<LockClaim, LockClaim[]>() }
  readonly #news: (() => void)[] = []
  /** Those who show claims to people. */
  readonly #watchers = new Set<() => void>()
  #arrivals = 0
  #isTelling = false

  /** All claims that hold keys or wait for them, in order of arrival. */
  get claims(): readonly LockClaim[] {
    return [...this.#claims]
  }

  /** Called after each step in which claims changed. Returns how to stop. */
  onChange(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  take(claim: LockClaim, keys: ResourceKeys, wait: LockWait): void {
    if (claim.state !== 'new') return
    claim.index = this.#arrivals++
    claim.keys = keys
    claim.uses = usesOf(keys)
    claim.wait = wait
    claim.state = 'waiting'
    this.#claims.add(claim)
    this.#forget()
    for (const [key] of claim.uses) this.#trafficOf(key).claims++
    if (claim.isNested) {
      this.#line(claim)
      this.#nested.add(claim)
      this.#review()
    } else if (!this.#file(claim)) this.#line(claim)
    this.#tell()
  }

  /** It holds its keys no longer, or waits for them no longer. */
  release(claim: LockClaim): void {
    this.#remove(claim)
    this.#review()
    this.#tell()
  }

  /** A claim that holds keys gives up some of them. */
  narrow(claim: LockClaim, keys: ResourceKeys): void {
    if (claim.state !== 'granted') return
    this.#forget()
    const before = claim.uses
    claim.keys = keys
    claim.uses = usesOf(keys)
    for (const [key] of claim.uses) this.#trafficOf(key).claims++
    this.#leave(claim, before)
    for (const [traffic, use] of this.#trafficFor(claim)) traffic.executing[use].add(claim)
    this.#fileAgain(claim)
    this.#review()
    this.#tell()
  }

  /** The claims that this one waits for: those that hold a key, or else those that wait before it. */
  holdersBefore(claim: LockClaim): LockClaim[] {
    if (claim.state !== 'waiting') return []
    const blockers = this.#blockersOf(claim)
    const holders = blockers.filter(({ state }) => state === 'granted')
    return holders.length > 0 ? holders : blockers
  }

  #trafficOf(key: string): { readonly traffic: KeyTraffic<LockClaim>; claims: number } {
    let found = this.#keys.get(key)
    if (found === undefined) {
      found = { traffic: new KeyTraffic(isWaiting), claims: 0 }
      this.#keys.set(key, found)
    }
    return found
  }

  #trafficFor({ uses }: LockClaim): (readonly [KeyTraffic<LockClaim>, Use])[] {
    return uses.map(([key, use]) => [this.#trafficOf(key).traffic, use] as const)
  }

  /** Later claims see that it waits. */
  #line(claim: LockClaim): void {
    for (const [traffic, use] of this.#trafficFor(claim)) {
      traffic.waiting[use].insert(claim)
      // drops what no longer waits: a book may live as long as its process
      void traffic.waiting[use].first
    }
  }

  /** Grants it, or files it under one claim that it waits for. */
  #file(claim: LockClaim): boolean {
    const blocker = blockerOf(claim.index, this.#trafficFor(claim))
    if (blocker === undefined) return this.#grant(claim)
    const others = this.#waitingFor.get(blocker)
    if (others === undefined) this.#waitingFor.set(blocker, [claim])
    else others.push(claim)
    return false
  }

  #forget(): void {
    this.#known.conflicts.clear()
    this.#known.blockers.clear()
  }

  #grant(claim: LockClaim): true {
    this.#forget()
    claim.state = 'granted'
    this.#nested.delete(claim)
    for (const [traffic, use] of this.#trafficFor(claim)) traffic.executing[use].add(claim)
    this.#news.push(() => {
      if (claim.state === 'granted') claim.wait?.granted()
    })
    return true
  }

  #remove(claim: LockClaim): void {
    if (!this.#claims.delete(claim)) return
    this.#forget()
    claim.state = 'released'
    this.#nested.delete(claim)
    this.#leave(claim, claim.uses)
    this.#fileAgain(claim)
  }

  #leave(claim: LockClaim, uses: LockClaim['uses']): void {
    for (const [key, use] of uses) {
      const found = this.#trafficOf(key)
      found.traffic.executing[use].delete(claim)
      if (--found.claims === 0) this.#keys.delete(key)
    }
  }

  /** Those that wait for it may go on, or wait for another. */
  #fileAgain(claim: LockClaim): void {
    const waiting = this.#waitingFor.get(claim)
    this.#waitingFor.delete(claim)
    for (const each of waiting?.sort((one, other) => one.index - other.index) ?? []) {
      if (isWaiting(each)) this.#file(each)
    }
  }

  #review(): void {
    for (let isSettled = this.#nested.size === 0; !isSettled; ) {
      const waiting = [...this.#nested]
      const free = waiting.find((claim) => this.#blockersOf(claim).length === 0)
      const stuck = free ?? waiting.findLast((claim) => this.#waitsInCircle(claim))
      if (free !== undefined) this.#grant(free)
      else if (stuck !== undefined) this.#refuse(stuck)
      isSettled = stuck === undefined || this.#nested.size === 0
    }
  }

  #refuse(claim: LockClaim): void {
    const holders = this.holdersBefore(claim)
    this.#remove(claim)
    this.#news.push(() => claim.wait?.refused(holders))
  }

  /** Everything that the claim waits for. */
  #blockersOf(claim: LockClaim): LockClaim[] {
    return known(this.#known.blockers, claim, () => {
      const around = aroundOf(claim)
      const isPassed = (other: LockClaim): boolean =>
        isWaiting(other) && around.length > 0 && this.#reaches(other, around, (each) => this.#conflictsOf(each))
      return this.#conflictsOf(claim).filter((other) => !isPassed(other))
    })
  }

  /** The same before anything is passed. */
  #conflictsOf(claim: LockClaim): LockClaim[] {
    const isBefore = (other: LockClaim): boolean => !isWaiting(other) || other.index < claim.index
    return known(this.#known.conflicts, claim, () =>
      this.claims.filter((other) => other !== claim && isBefore(other) && claim.conflictsWith(other)),
    )
  }

  #waitsInCircle(claim: LockClaim): boolean {
    const around = aroundOf(claim)
    return this.#blockersOf(claim).some((other) => this.#reaches(other, around, (each) => this.#blockersOf(each)))
  }

  /** Whether a claim waits for one of these: for its keys, or, if it holds them, for the calls inside of it. */
  #reaches(from: LockClaim, goals: readonly LockClaim[], next: (claim: LockClaim) => LockClaim[]): boolean {
    const seen = new Set([from])
    for (const claim of seen) {
      if (goals.includes(claim)) return true
      const inner = isWaiting(claim) ? next(claim) : [...this.#nested].filter((each) => each.isInside(claim))
      for (const each of inner) seen.add(each)
    }
    return false
  }

  /** After the book has changed, because the code that is told may use it again. */
  #tell(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    try {
      for (let news = this.#news.shift(); news !== undefined; news = this.#news.shift()) news()
      for (const watcher of this.#watchers) watcher()
    } finally {
      this.#isTelling = false
    }
  }
}

/** The calls around a claim that hold keys. */
function aroundOf(claim: LockClaim): LockClaim[] {
  const around: LockClaim[] = []
  for (let { outer } = claim; outer !== undefined; outer = outer.outer)
    if (outer.state === 'granted') around.push(outer)
  return around
}

function known(found: Map<LockClaim, LockClaim[]>, claim: LockClaim, find: () => LockClaim[]): LockClaim[] {
  const before = found.get(claim)
  if (before !== undefined) return before
  const now = find()
  found.set(claim, now)
  return now
}
