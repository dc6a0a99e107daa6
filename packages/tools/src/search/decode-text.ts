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
