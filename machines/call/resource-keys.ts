/**
 * The resources that a call reads and writes. A key is `scheme:path`; one that ends in `/` covers everything below it,
 * and `*` covers everything.
 */
export interface ResourceKeys {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

/** A call whose tool names no resources: safe calls share everything, an unsafe call needs everything for itself. */
const readsEverything: ResourceKeys = { reads: ['*'], writes: [] }
const writesEverything: ResourceKeys = { reads: [], writes: ['*'] }

interface Classified {
  readonly isSafe: boolean
  readonly keys: ResourceKeys | undefined
}

export const keysOf = ({ isSafe, keys }: Classified): ResourceKeys =>
  keys ?? (isSafe ? readsEverything : writesEverything)

/** Nothing may run beside it. */
export const isExclusive = ({ isSafe, keys }: Classified): boolean =>
  keys === undefined ? !isSafe : keys.writes.includes('*')

const covers = (key: string, other: string): boolean =>
  key === '*' || key === other || (key.endsWith('/') && other.startsWith(key))

/** Keys that cover this one, from the widest: `*`, then every folder above it. */
export function keysAbove(key: string): string[] {
  if (key === '*') return []
  const above = ['*']
  for (let at = key.indexOf('/'); at >= 0 && at < key.length - 1; at = key.indexOf('/', at + 1)) {
    above.push(key.slice(0, at + 1))
  }
  return above
}

/** The key over which two calls conflict, as the second one names it: one of them writes what the other uses. */
export function conflictOf(call: ResourceKeys, other: ResourceKeys): string | undefined {
  const meets = (mine: readonly string[], theirs: readonly string[]): string | undefined =>
    theirs.find((key) => mine.some((own) => covers(own, key) || covers(key, own)))
  // a call that writes everything conflicts with every call, even one without keys
  if (other.writes.includes('*')) return '*'
  return (
    meets(call.writes, other.writes) ??
    meets(call.writes, other.reads) ??
    meets(call.reads, other.writes) ??
    (call.writes.includes('*') ? '*' : undefined)
  )
}

export function isSameKeys(one: ResourceKeys | undefined, other: ResourceKeys | undefined): boolean {
  if (one === other) return true
  if (one === undefined || other === undefined) return false
  return isSameSet(one.reads, other.reads) && isSameSet(one.writes, other.writes)
}

const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((key) => other.includes(key))
