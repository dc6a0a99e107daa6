import { parseArgs } from 'node:util'
import { scenarios } from './scenarios.mjs'

const full = {
  sizes: [1, 10, 100, 1_000, 10_000],
  rounds: 7,
  minMs: 80,
  /** A turn of 10,000 takes a second or more: fewer rounds. */
  largeSize: 10_000,
  largeRounds: 5,
  /** A turn that takes longer is not repeated: its one time stands. */
  onceMs: 4_000,
  /** A turn that would take longer, by what the last smaller one took, is not tried. */
  capMs: 45_000,
  memory: { sizes: [100, 1_000, 10_000], turns: 2, maxTurnMs: 5_000 },
  retained: { size: 100, minCalls: 10_000, maxMs: 2_000 },
  latency: { blocks: 20, turns: 8 },
  overlap: { scenarios: Object.keys(scenarios), rounds: 3 },
  progress: { count: 1_000, minMs: 300 },
  startUps: 9,
}

const quick = {
  ...full,
  sizes: [1, 10, 100],
  rounds: 1,
  minMs: 0,
  memory: { sizes: [100], turns: 1, maxTurnMs: 3_000 },
  retained: { size: 10, minCalls: 20, maxMs: 1_000 },
  latency: { blocks: 3, turns: 1 },
  overlap: { scenarios: ['slow first call'], rounds: 1 },
  progress: { count: 100, minMs: 0 },
  startUps: 1,
}

export function readSettings(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      cpu: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      from: { type: 'string' },
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
