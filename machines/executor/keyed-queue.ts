import type { CallRecord, Reclassification } from '../call/call-record.ts'
import { isExclusive, keysOf } from '../call/resource-keys.ts'
import type { CallQueue } from './call-queue.ts'
import { blockerOf, isUsedByOthers, KeyTraffic, type Use, usesOf } from './key-traffic.ts'
import { OrderedLane } from './ordered-lane.ts'

/** One call with the keys it had when it entered. */
interface Claim {
  readonly call: CallRecord
  readonly index: number
  readonly uses: readonly (readonly [KeyTraffic<Claim>, Use])[]
  isGone: boolean
}

/**
 * The queue of a turn in which calls name resources. A call may start if it conflicts with no executing call and with
 * no earlier call that waits. A call that may not is filed under one call that it waits for and looked at again when
 * that one is over, so each check touches only the keys of one call.
 */
export class KeyedQueue implements CallQueue {
  readonly #keys = new Map<string, KeyTraffic<Claim>>()
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
    this.#fileAgain(call)
  }

  rekeyed(call: CallRecord): void {
    this.#execute(this.#claim(call))
    this.#fileAgain(call)
  }

  isInTheWay(call: CallRecord, change: Reclassification): boolean {
    const own = this.#claims.get(call)
    return usesOf(keysOf(change)).some(([key, use]) => {
      const traffic = this.#keys.get(key)
      return traffic !== undefined && isUsedByOthers(traffic, use, call.index, own)
    })
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
    const claim: Claim = {
      call,
      index: call.index,
      uses: usesOf(keysOf(call)).map(([key, use]) => [this.#trafficOf(key), use] as const),
      isGone: false,
    }
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

  /** The calls that waited for this one. */
  #fileAgain(call: CallRecord): void {
    const waiting = this.#waitingFor.get(call)
    this.#waitingFor.delete(call)
    for (const each of waiting ?? []) if (isWaiting(each)) this.#file(each)
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

  #blockerOf({ index, uses }: Claim): CallRecord | undefined {
    return blockerOf(index, uses)?.call
  }

  #trafficOf(key: string): KeyTraffic<Claim> {
    let traffic = this.#keys.get(key)
    if (traffic === undefined) {
      traffic = new KeyTraffic(isWaiting)
      this.#keys.set(key, traffic)
    }
    return traffic
  }
}

const isWaiting = ({ isGone, call: { stage } }: Claim): boolean => !isGone && (stage === 'queued' || stage === 'held')
