import { parseArgs } from 'node:util'
import { scenarios } from './scenarios.mjs'

const full = {
  sizes: [1, 10, 100, 1_000, 10_000],
  rounds: 7,
  minMs: 80,
  /** Fewer rounds at this size: a turn takes a second or more. */
  largeSize: 10_000,
  largeRounds: 5,
  /** A turn that takes longer is not repeated. */
  onceMs: 4_000,
  /** A turn that is expected to take longer, judging by the last smaller one, is skipped. */
  capMs: 45_000,
  memory: { sizes: [100, 1_000, 10_000], turns: 2, maxTurnMs: 5_000 },
  retained: { size: 100, minCalls: 10_000, maxMs: 2_000 },
  latency: { blocks: 20, turns: 8 },
  overlap: { scenarios: Object.keys(scenarios), rounds: 3 },
  progress: { count: 1_000, minMs: 300 },
  startUps: 9,
  longQuery: { turns: 2_000, rounds: 5 },
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
  longQuery: { turns: 20, rounds: 1 },
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
    throw new TypeError(`--rounds: expected an integer of at least 1, received ${values.rounds}`)
  }
  if (values.quick && values.markdown)
    throw new TypeError('--quick and --markdown cannot be combined: --quick measures too little to publish')
  return { ...defaults, ...values, rounds, largeRounds: Math.min(rounds, defaults.largeRounds) }
}
