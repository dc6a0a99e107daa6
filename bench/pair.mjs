import { parseArgs } from 'node:util'
import { builtCalls, builtTurn, distOf } from './built-turn.mjs'

/**
 * Time per call of several builds that alternate in one process: `node bench/pair.mjs dist other/dist`. Each slice takes a
 * few milliseconds, so other load slows all builds alike: at N=100 ratios hold on a busy machine, times do not. Compare two
 * builds at a time. With `--max-semi-space-size=256 --min-semi-space-size=256` for Node, most garbage collection is left out.
 */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mix: { type: 'string', default: 'safe' },
    calls: { type: 'string', default: '100' },
    slices: { type: 'string', default: '250' },
  },
})
const size = Number(options.calls)
const turnsPerSlice = Math.max(1, Math.round(300 / size))
const calls = builtCalls(size, options.mix)
const dists = positionals.map(distOf)
const turns = []
for (const dist of dists) turns.push(await builtTurn(dist))
const warmUp = builtCalls(50, options.mix)
for (let n = 0; n < 300; n++) for (const turn of turns) await turn(warmUp)
for (let n = 0; n < 60; n++) for (const turn of turns) await slice(turn)

const times = turns.map(() => [])
for (let n = 0; n < Number(options.slices); n++) {
  // another build begins each time
  for (let each = 0; each < turns.length; each++) {
    const index = (n + each) % turns.length
    times[index].push(await slice(turns[index]))
  }
}

console.log(
  `µs per call, ${options.mix}, N=${size}, Node ${process.versions.node}: tenth and fourth part of the slices`,
)
const [first] = times
for (const [index, dist] of dists.entries()) {
  const own = times[index]
  const ratio = (part) => (slowestOf(own, part) / slowestOf(first, part)).toFixed(3)
  console.log(dist, slowestOf(own, 0.1).toFixed(2), slowestOf(own, 0.25).toFixed(2), `(${ratio(0.1)}, ${ratio(0.25)})`)
}

async function slice(turn) {
  const before = performance.now()
  for (let n = 0; n < turnsPerSlice; n++) await turn(calls)
  return ((performance.now() - before) * 1_000) / (turnsPerSlice * size)
}

/** The slowest of the fastest slices that make up this part. */
function slowestOf(values, part) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]
}
