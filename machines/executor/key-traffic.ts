import { keysAbove, type ResourceKeys } from '../call/resource-keys.ts'
import { OrderedLane } from './ordered-lane.ts'

/** How a call uses one key: itself, or something below it. */
export type Use = 'reads' | 'writes' | 'readsBelow' | 'writesBelow'

/** Uses of one key by two calls at once that conflict. */
const conflictingUses = {
  reads: ['writes', 'writesBelow'],
  writes: ['reads', 'writes', 'readsBelow', 'writesBelow'],
  readsBelow: ['writes'],
  writesBelow: ['reads', 'writes'],
} satisfies Record<Use, readonly Use[]>

/** The calls that use a key, and the calls that wait for it. */
export class KeyTraffic<Claim extends { readonly index: number }> {
  readonly executing: Record<Use, Set<Claim>>
  readonly waiting: Record<Use, OrderedLane<Claim>>

  constructor(isWaiting: (claim: Claim) => boolean) {
    this.executing = perUse(() => new Set())
    this.waiting = perUse(() => new OrderedLane(isWaiting))
  }
}

/** Everything that a call with these keys uses: the keys, and whatever covers them. */
export function usesOf({ reads, writes }: ResourceKeys): (readonly [string, Use])[] {
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
  return [...named].flatMap(([key, uses]) => Array.from(uses, (use) => [key, use] as const))
}

/** The nearest earlier claim that waits, or else one that executes: claims that queue for one key wait in a chain. */
export function blockerOf<Claim extends { readonly index: number }>(
  index: number,
  uses: Iterable<readonly [KeyTraffic<Claim>, Use]>,
): Claim | undefined {
  let nearest: Claim | undefined
  let executing: Claim | undefined
  for (const [traffic, use] of uses) {
    for (const other of conflictingUses[use]) {
      const waiting = traffic.waiting[other].lastBefore(index)
      if (waiting !== undefined && (nearest === undefined || waiting.index > nearest.index)) nearest = waiting
      executing ??= traffic.executing[other].values().next().value
    }
  }
  return nearest ?? executing
}

/** Whether an executing claim, or an earlier one that waits, conflicts with this use of a key. */
export const isUsedByOthers = <Claim extends { readonly index: number }>(
  { executing, waiting }: KeyTraffic<Claim>,
  use: Use,
  index: number,
  own: Claim | undefined,
): boolean =>
  conflictingUses[use].some((other) => {
    const users = executing[other]
    const isOwn = own !== undefined && users.has(own)
    return users.size > (isOwn ? 1 : 0) || waiting[other].lastBefore(index) !== undefined
  })

const perUse = <Value>(make: () => Value): Record<Use, Value> => ({
  reads: make(),
  writes: make(),
  readsBelow: make(),
  writesBelow: make(),
})
