const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** The CRC-32 of zip and Ethernet. Written out, because `zlib.crc32` is missing in early versions of Node 20. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] as number)) & 0xff] as number)
  return (crc ^ 0xffffffff) >>> 0
}
