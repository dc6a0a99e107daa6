/** Keeps the beginning and the end of an output without end, and counts the rest. */
export interface OutputKeeper {
  /** The text of these bytes; half a character waits for its other half. */
  add(bytes: Uint8Array): string
  readonly bytes: number
  /** All that is kept, once there is no more to come. */
  text(): string
  /** What came since this was last asked for, as far as it is still kept. */
  takeNew(): string
}

export function createOutputKeeper(maxChars: number): OutputKeeper {
  const half = Math.max(1, Math.floor(maxChars / 2))
  const decoder = new TextDecoder('utf-8')
  let head = ''
  let tail = ''
  let chars = 0
  let bytes = 0
  let taken = 0
  const between = (from: number): string => {
    const tailStart = chars - tail.length
    const kept = from < head.length ? head.slice(from) : ''
    const missing = Math.max(0, tailStart - Math.max(from, head.length))
    const gap = missing > 0 ? `\n… ${missing} characters left out …\n` : ''
    return kept + gap + tail.slice(Math.max(0, from - tailStart))
  }
  const keep = (text: string): void => {
    chars += text.length
    const room = half - head.length
    head += text.slice(0, room)
    tail += text.slice(room)
    // cut seldom, and by much, so that a flood of little pieces stays cheap
    if (tail.length > 2 * half) tail = tail.slice(-half)
  }
  return {
    add(chunk) {
      bytes += chunk.length
      const text = decoder.decode(chunk, { stream: true })
      keep(text)
      return text
    },
    get bytes() {
      return bytes
    },
    text: () => {
      // nothing more will come for half a character
      keep(decoder.decode())
      if (tail.length > half) tail = tail.slice(-half)
      return between(0)
    },
    takeNew() {
      const text = between(taken)
      taken = chars
      return text
    },
  }
}
