import { parseArgs } from 'node:util'

export const engineNames = ['floor', 'array-scan', 'counters', 'signalbox', 'signalbox-observed']

const full = {
  sizes: [1, 10, 100, 1_000, 10_000],
  rounds: 11,
  /** A turn of 10,000 takes about a second: fewer rounds, one turn each. */
  largeSize: 10_000,
  largeRounds: 5,
  memorySize: 10_000,
  time: { callsPerSample: 500, minSamples: 3, minMs: 40 },
  largeTime: { callsPerSample: 1, minSamples: 1, minMs: 0 },
}

const quick = {
  ...full,
  sizes: [1, 10, 100],
  rounds: 1,
  memorySize: 100,
  time: { callsPerSample: 1, minSamples: 1, minMs: 0 },
}

export function readSettings(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      rounds: { type: 'string' },
    },
  })
  const defaults = values.quick ? quick : full
  const rounds = values.rounds === undefined ? defaults.rounds : Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new TypeError(`--rounds must be a whole number from 1, but got ${values.rounds}`)
  }
  if (values.quick && values.markdown) throw new TypeError('--quick measures too little to be written down')
  return { ...defaults, ...values, rounds, largeRounds: Math.min(rounds, defaults.largeRounds) }
}
