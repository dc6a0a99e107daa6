const roots = (count: number, power: number): number[] => {
  const found: number[] = []
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.some((_, index) => candidate % (primes[index] as number) === 0)) continue
    primes[found.length] = candidate
    const root = candidate ** power
    found.push(((root - Math.floor(root)) * 2 ** 32) | 0)
  }
  return found
}
const primes: number[] = []
/** Made on first use; most programs never hash. */
let tables: { readonly constants: readonly number[]; readonly state: readonly number[] } | undefined
const turn = (value: number, bits: number): number => (value >>> bits) | (value << (32 - bits))

/** The SHA-256 of a text in UTF-8, in hex. Implemented here, because the platform's own is asynchronous. */
export function sha256(text: string): string {
  const bytes = new TextEncoder().encode(text)
  const padded = new Uint8Array(((bytes.length + 8) >> 6) * 64 + 64)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(padded.length - 4, bytes.length << 3)
  tables ??= { constants: roots(64, 1 / 3), state: roots(8, 1 / 2) }
  const { constants } = tables
  const state = Int32Array.from(tables.state)
  const words = new Int32Array(64)
  for (let at = 0; at < padded.length; at += 64) mix(state, words, constants, view, at)
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

function mix(state: Int32Array, w: Int32Array, constants: readonly number[], view: DataView, at: number): void {
  for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + i * 4)
  const word = (i: number): number => w[i] as number
  for (let i = 16; i < 64; i++) {
    const [early, late] = [word(i - 15), word(i - 2)]
    const s0 = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
    const s1 = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
    w[i] = word(i - 16) + s0 + word(i - 7) + s1
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let i = 0; i < 64; i++) {
    const sum1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
    const one = (h + sum1 + ((e & f) ^ (~e & g)) + (constants[i] as number) + word(i)) | 0
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0]
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = ((state[i] as number) + value) | 0
}
