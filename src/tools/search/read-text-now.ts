/**
 * The text of a file that a walk has just found, for a thread that may wait; undefined for what is binary, too large, or
 * not to be read. Its source is sent there, so it may refer to nothing outside itself.
 */
export function readTextNow(fs: typeof import('node:fs'), path: string, maxBytes: number): string | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants
  let file: number | undefined
  try {
    file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const facts = fs.fstatSync(file)
    if (!facts.isFile() || facts.size > maxBytes) return undefined
    const bytes = Buffer.allocUnsafe(facts.size)
    let length = 0
    while (length < facts.size) {
      const read = fs.readSync(file, bytes, length, facts.size - length, length)
      if (read === 0) break
      length += read
    }
    const text = bytes.subarray(0, length)
    return text.includes(0) ? undefined : text.toString('utf8')
  } catch {
    return undefined
  } finally {
    if (file !== undefined) fs.closeSync(file)
  }
}
