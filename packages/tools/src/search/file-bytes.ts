/**
 * Synchronously reads a file that a walk or ripgrep has just found, in a worker thread. Undefined if the file is too
 * large, unreadable, or not at its path: a folder may have become a link, so the kernel is asked for the path of the
 * opened file. The source is sent to the thread, so it must not refer to anything outside itself.
 */
export function readBytesNow(fs: typeof import('node:fs'), path: string, maxBytes: number): Uint8Array | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants
  let file: number | undefined
  try {
    file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const facts = fs.fstatSync(file)
    if (!facts.isFile() || facts.size > maxBytes) return undefined
    const where = process.platform === 'linux' ? fs.readlinkSync(`/proc/self/fd/${file}`) : undefined
    if (where !== undefined && where !== path) return undefined
    const bytes = Buffer.allocUnsafe(facts.size)
    let length = 0
    while (length < facts.size) {
      const read = fs.readSync(file, bytes, length, facts.size - length, length)
      if (read === 0) break
      length += read
    }
    if (where === undefined && fs.realpathSync.native(path) !== path) return undefined
    return bytes.subarray(0, length)
  } catch {
    return undefined
  } finally {
    if (file !== undefined) fs.closeSync(file)
  }
}

/**
 * Decodes a file by its byte order mark, as ripgrep does; undefined for binary data. The source is sent to a worker
 * thread, so it must not refer to anything outside itself.
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes
  const isLittle = first === 0xff && second === 0xfe
  if (isLittle || (first === 0xfe && second === 0xff)) {
    return new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be').decode(bytes)
  }
  return bytes.includes(0) ? undefined : new TextDecoder('utf-8').decode(bytes)
}
