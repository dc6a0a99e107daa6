export type Incoming =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'ping'; readonly payload: Buffer }
  | { readonly kind: 'close' }
  /** The client broke the protocol; the connection is closed with this code. */
  | { readonly kind: 'wrong'; readonly code: 1002 | 1003 | 1007 | 1009 }

interface Header {
  readonly isLast: boolean
  readonly opcode: number
  readonly start: number
  readonly length: number
}

/** Parses WebSocket frames of a client. Lengths are checked before any data is buffered. */
export class MessageReader {
  readonly #maxBytes: number
  #bytes: Buffer = Buffer.alloc(0)
  #parts: Buffer[] | undefined
  #isOver = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  *read(chunk: Buffer): Generator<Incoming, void, undefined> {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    while (!this.#isOver) {
      const header = this.#header()
      if (header === undefined) return
      if ('kind' in header) {
        this.#isOver = true
        yield header
        return
      }
      const end = header.start + header.length
      if (this.#bytes.length < end) return
      const payload = unmask(
        this.#bytes.subarray(header.start - 4, header.start),
        this.#bytes.subarray(header.start, end),
      )
      this.#bytes = this.#bytes.subarray(end)
      const incoming = this.#take(header, payload)
      if (incoming === undefined) continue
      this.#isOver = incoming.kind === 'wrong' || incoming.kind === 'close'
      yield incoming
    }
  }

  #header(): Header | Extract<Incoming, { kind: 'wrong' }> | undefined {
    const bytes = this.#bytes
    if (bytes.length < 2) return undefined
    const [first, second] = [bytes.readUInt8(0), bytes.readUInt8(1)]
    const opcode = first & 0x0f
    const isControl = opcode >= 8
    const short = second & 0x7f
    // clients must mask, and no extension uses the reserved bits
    const isWrong = (first & 0x70) !== 0 || (second & 0x80) === 0
    if (isWrong || (isControl && (short > 125 || (first & 0x80) === 0))) return { kind: 'wrong', code: 1002 }
    const sizeBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    if (bytes.length < 2 + sizeBytes) return undefined
    const length = sizeBytes === 0 ? short : sizeBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    const before = isControl ? 0 : (this.#parts ?? []).reduce((sum, part) => sum + part.length, 0)
    if (length + before > this.#maxBytes) return { kind: 'wrong', code: 1009 }
    const start = 2 + sizeBytes + 4
    return bytes.length < start ? undefined : { isLast: (first & 0x80) !== 0, opcode, start, length }
  }

  #take({ opcode, isLast }: Header, payload: Buffer): Incoming | undefined {
    switch (opcode) {
      case 0x0:
      case 0x1:
        if ((opcode === 0x0) === (this.#parts === undefined)) return { kind: 'wrong', code: 1002 }
        this.#parts = [...(this.#parts ?? []), payload]
        return isLast || this.#parts.length > 1_000 ? this.#whole() : undefined
      case 0x2:
        return { kind: 'wrong', code: 1003 }
      case 0x8:
        return { kind: 'close' }
      case 0x9:
        return { kind: 'ping', payload }
      case 0xa:
        return undefined
      default:
        return { kind: 'wrong', code: 1002 }
    }
  }

  #whole(): Incoming {
    const bytes = Buffer.concat(this.#parts ?? [])
    this.#parts = undefined
    try {
      return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
    } catch {
      return { kind: 'wrong', code: 1007 }
    }
  }
}

function unmask(mask: Buffer, masked: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(masked.length)
  for (let at = 0; at < masked.length; at++) plain[at] = (masked[at] as number) ^ (mask[at & 3] as number)
  return plain
}
