/** Keeps the beginning and the end of an unlimited output, and counts the characters between. */
export interface OutputKeeper {
  /** Returns the text of these bytes; an incomplete character waits for its remaining bytes. */
  add(bytes: Uint8Array): string
  readonly bytes: number
  /** All that is kept; called when the output has ended. */
  text(): string
  /** The output since the last call of this function, as far as it is still kept. */
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
    // cut rarely and in large pieces, so that many small chunks stay cheap
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
      // the output has ended, so an incomplete character stays incomplete
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
