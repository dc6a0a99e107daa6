/** Splits output into lines, and buffers no more than one message may have. */
export interface LineReader {
  /** The lines that these bytes complete. Stops at a line that is too long; nothing after it is read. */
  read(bytes: Uint8Array): { readonly lines: string[]; readonly isTooLong: boolean }
}

const newline = 10

export function createLineReader(maxBytes: number): LineReader {
  let parts: Uint8Array[] = []
  let size = 0
  return {
    read(bytes) {
      const lines: string[] = []
      let from = 0
      for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
        if (size + end - from > maxBytes) return { lines, isTooLong: true }
        lines.push(Buffer.concat([...parts, bytes.subarray(from, end)]).toString('utf8'))
        parts = []
        size = 0
        from = end + 1
      }
      if (from < bytes.length) {
        parts.push(bytes.subarray(from))
        size += bytes.length - from
      }
      return { lines, isTooLong: size > maxBytes }
    },
  }
}
