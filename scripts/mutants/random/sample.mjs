/** The same seed gives the same numbers from 0 to 1, on every machine. */
function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** `size` of the items, each as likely as any other, in their own order. */
export function sample(items, size, seed) {
  const random = randomFrom(seed)
  const order = items.map((_, at) => at)
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    ;[order[at], order[other]] = [order[other], order[at]]
  }
  return order
    .slice(0, size)
    .sort((a, b) => a - b)
    .map((at) => items[at])
}
