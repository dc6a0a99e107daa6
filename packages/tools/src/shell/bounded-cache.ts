/** Caches the most recent results of a pure function of a text. */
export function boundedCache<Value>(most: number, read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const value = read(text)
    if (known.size >= most) known.delete(known.keys().next().value as string)
    known.set(text, value)
    return value
  }
}
