import type { CallRecord } from '../call/call-record.ts'
import { isExclusive, keysAbove, keysOf } from '../call/resource-keys.ts'
import type { CallQueue } from './call-queue.ts'
import { OrderedLane } from './ordered-lane.ts'

/** How a call uses one key: itself, or something below it. */
type Use = 'reads' | 'writes' | 'readsBelow' | 'writesBelow'

/** Uses of one key by two calls at once that conflict. */
const conflicts = {
  reads: ['writes', 'writesBelow'],
  writes: ['reads', 'writes', 'readsBelow', 'writesBelow'],
  readsBelow: ['writes'],
  writesBelow: ['reads', 'writes'],
} satisfies Record<Use, readonly Use[]>

/** One call with the keys it had when it entered. */
interface Claim {
  readonly call: CallRecord
  readonly index: number
  readonly uses: readonly (readonly [KeyTraffic, Use])[]
  isGone: boolean
}

/** The calls that use a key, and the calls that wait for it. */
class KeyTraffic {
  readonly executing: Record<Use, Set<Claim>> = perUse(() => new Set())
  readonly waiting: Record<Use, OrderedLane<Claim>> = perUse(() => new OrderedLane(isWaiting))
}

/**
 * The queue of a turn in which calls name resources. A call may start if it conflicts with no executing call and with
 * no earlier call that waits. A call that may not is filed under one call that it waits for and looked at again when
 * that one is over, so each check touches only the keys of one call.
 */
export class KeyedQueue implements CallQueue {
  readonly #keys = new Map<string, KeyTraffic>()
  readonly #claims = new Map<CallRecord, Claim>()
  readonly #waitingFor = new Map<CallRecord, Claim[]>()
  readonly #free = new OrderedLane<Claim>((claim) => isWaiting(claim) && claim.call.stage === 'queued')
  readonly #exclusive = new OrderedLane<Claim>((claim) => isWaiting(claim) && isExclusive(claim.call))

  /** Takes over a turn that had no keys so far. */
  constructor(calls: Iterable<CallRecord>) {
    for (const call of calls) {
      if (call.port.isAnswered) continue
      if (call.stage === 'executing') this.#execute(this.#claim(call))
      else if (call.stage === 'queued' || call.stage === 'held') this.enter(call)
    }
  }

  enter(call: CallRecord): void {
    const claim = this.#claim(call)
    const isHeld = call.stage === 'held'
    for (const [traffic, use] of claim.uses) {
      // a held call may never run: until it is released, only what it may write is kept for it
      if (!isHeld || use === 'writes' || use === 'writesBelow') traffic.waiting[use].insert(claim)
    }
    if (isExclusive(call)) this.#exclusive.insert(claim)
    if (!isHeld) this.#file(claim)
  }

  started(call: CallRecord): void {
    const claim = this.#claims.get(call)
    if (claim !== undefined) this.#execute(claim)
  }

  left(call: CallRecord): void {
    const claim = this.#claims.get(call)
    if (claim === undefined) return
    this.#claims.delete(call)
    this.#drop(claim)
    const waiting = this.#waitingFor.get(call)
    this.#waitingFor.delete(call)
    for (const each of waiting ?? []) if (isWaiting(each)) this.#file(each)
  }

  get next(): CallRecord | undefined {
    for (let claim = this.#free.first; claim !== undefined; claim = this.#free.first) {
      // a call that went back to its place, or was released there, may be in the way by now
      const blocker = this.#blockerOf(claim)
      if (blocker === undefined) return claim.call
      this.#refile(claim, blocker)
    }
    return undefined
  }

  get barriers(): readonly CallRecord[] {
    const first = this.#exclusive.first
    return first === undefined ? [] : [first.call]
  }

  barrierBefore({ index }: CallRecord): CallRecord | undefined {
    const first = this.#exclusive.first
    return first !== undefined && first.index < index ? first.call : undefined
  }

  conflictWith(call: CallRecord): CallRecord | undefined {
    const claim = this.#claims.get(call)
    return claim && this.#blockerOf(claim)
  }

  /** A call that enters again has new keys, or more of them count. */
  #claim(call: CallRecord): Claim {
    const before = this.#claims.get(call)
    if (before !== undefined) this.#drop(before)
    const claim: Claim = { call, index: call.index, uses: this.#usesOf(call), isGone: false }
    this.#claims.set(call, claim)
    return claim
  }

  #drop(claim: Claim): void {
    claim.isGone = true
    for (const [traffic, use] of claim.uses) traffic.executing[use].delete(claim)
  }

  #execute(claim: Claim): void {
    for (const [traffic, use] of claim.uses) traffic.executing[use].add(claim)
  }

  #file(claim: Claim): void {
    const blocker = this.#blockerOf(claim)
    if (blocker === undefined) this.#free.insert(claim)
    else this.#waitFor(claim, blocker)
  }

  #refile(claim: Claim, blocker: CallRecord): void {
    this.#free.removeFirst()
    this.#waitFor(claim, blocker)
  }

  #waitFor(claim: Claim, blocker: CallRecord): void {
    const others = this.#waitingFor.get(blocker)
    if (others === undefined) this.#waitingFor.set(blocker, [claim])
    else others.push(claim)
  }

  /** The nearest earlier call that waits, or else one that executes: calls that queue for one key wait in a chain. */
  #blockerOf(claim: Claim): CallRecord | undefined {
    let nearest: Claim | undefined
    let executing: Claim | undefined
    for (const [traffic, use] of claim.uses) {
      for (const other of conflicts[use]) {
        const waiting = traffic.waiting[other].lastBefore(claim.index)
        if (waiting !== undefined && (nearest === undefined || waiting.index > nearest.index)) nearest = waiting
        executing ??= first(traffic.executing[other])
      }
    }
    return (nearest ?? executing)?.call
  }

  #usesOf(call: CallRecord): (readonly [KeyTraffic, Use])[] {
    const { reads, writes } = keysOf(call)
    const named = new Map<string, Set<Use>>()
    const note = (key: string, use: Use): void => {
      const uses = named.get(key)
      if (uses === undefined) named.set(key, new Set([use]))
      else uses.add(use)
    }
    // a call without keys still conflicts with one that writes everything
    note('*', 'readsBelow')
    for (const key of reads) {
      note(key, 'reads')
      for (const above of keysAbove(key)) note(above, 'readsBelow')
    }
    for (const key of writes) {
      note(key, 'writes')
      for (const above of keysAbove(key)) note(above, 'writesBelow')
    }
    return [...named].flatMap(([key, uses]) => Array.from(uses, (use) => [this.#trafficOf(key), use] as const))
  }

  #trafficOf(key: string): KeyTraffic {
    let traffic = this.#keys.get(key)
    if (traffic === undefined) {
      traffic = new KeyTraffic()
      this.#keys.set(key, traffic)
    }
    return traffic
  }
}

const isWaiting = ({ isGone, call: { stage } }: Claim): boolean => !isGone && (stage === 'queued' || stage === 'held')

const first = <Item>(items: ReadonlySet<Item>): Item | undefined => items.values().next().value

const perUse = <Value>(make: () => Value): Record<Use, Value> => ({
  reads: make(),
  writes: make(),
  readsBelow: make(),
  writesBelow: make(),
})
