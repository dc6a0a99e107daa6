interface Classified {
  readonly isSafe: boolean
  readonly keys: { readonly reads: readonly string[]; readonly writes: readonly string[] } | undefined
}

/**
 * K2: whether two calls must not run at once. Written from the rule; does not use the executor's own code.
 *
 * @param isHeld the first one is held: only what it may write counts
 */
export function isConflict(one: Classified, other: Classified, isHeld = false): boolean {
  const { reads, writes } = usesOf(one)
  if (isHeld && writes.length === 0) return false
  const [a, b] = [{ reads: isHeld ? [] : reads, writes }, usesOf(other)]
  if (a.writes.includes('*') || b.writes.includes('*')) return true
  return (
    a.writes.some((key) => [...b.reads, ...b.writes].some((each) => overlap(key, each))) ||
    b.writes.some((key) => a.reads.some((each) => overlap(key, each)))
  )
}

/** Needs everything for itself. */
export const isAlone = (call: Classified): boolean => usesOf(call).writes.includes('*')

const usesOf = ({ isSafe, keys }: Classified) =>
  keys ?? (isSafe ? { reads: ['*'], writes: [] } : { reads: [], writes: ['*'] })

const overlap = (one: string, other: string): boolean => isWithin(one, other) || isWithin(other, one)

const isWithin = (key: string, wider: string): boolean =>
  wider === '*' || key === wider || (wider.endsWith('/') && key.startsWith(wider))
