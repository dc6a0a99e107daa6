import { BlockList, isIP } from 'node:net'

const own = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  own.addSubnet(net, bits, 'ipv4')
}
for (const [net, bits] of [
  ['::', 128],
  ['::1', 128],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  own.addSubnet(net, bits, 'ipv6')
}

/** Addresses of this machine, of its network, and reserved ones. A text that is not an address counts too. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return own.check(address, 'ipv4')
  if (family !== 6) return true
  const inner = embeddedIPv4(address)
  return own.check(address, 'ipv6') || (inner !== undefined && own.check(inner, 'ipv4'))
}

/** The embedded IPv4 address: mapped, compatible, translated (`64:ff9b::`) and tunnelled (`2002:`) ones reach it. */
function embeddedIPv4(address: string): string | undefined {
  const words = wordsOf(address)
  const [first, second] = words
  const isLow = words.slice(0, 5).every((word) => word === 0) && (words[5] === 0 || words[5] === 0xffff)
  const isTranslated = first === 0x64 && second === 0xff9b && words.slice(2, 6).every((word) => word === 0)
  if (first === 0x2002) return dotted(words[1], words[2])
  return isLow || isTranslated ? dotted(words[6], words[7]) : undefined
}

const dotted = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')

function wordsOf(address: string): number[] {
  // the URL parser writes an address in its canonical short form
  const plain = new URL(`http://[${address.split('%', 1)[0]}]`).hostname.slice(1, -1)
  const [head = '', tail] = plain.split('::')
  const read = (part: string): number[] => (part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16)))
  const start = read(head)
  if (tail === undefined) return start
  const end = read(tail)
  return [...start, ...Array.from({ length: 8 - start.length - end.length }, () => 0), ...end]
}
