import { builtCalls, builtTurn, distOf } from './built-turn.mjs'
import { median } from './statistics.mjs'

/** CPU time per call on the table engine and on plain XState, alternating: `node bench/chart-engines.mjs [dist]`. */
const dist = distOf(process.argv[2])
const engines = ['table', 'xstate']
const turns = await Promise.all(engines.map((engine) => builtTurn(dist, { engine })))
const sizes = [10, 100, 1_000]
const rounds = 9

for (const turn of turns) for (let warm = 0; warm < 40; warm++) await turn(builtCalls(100, 'safe'))
console.log(`user CPU µs per call, safe, Node ${process.versions.node}: median of ${rounds} rounds`)
for (const size of sizes) {
  const calls = builtCalls(size, 'safe')
  const times = engines.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, turn] of turns.entries()) times[at].push(await userTime(turn, calls))
  }
  const [table, xstate] = times.map(median)
  const ratio = (xstate / table).toFixed(1)
  console.log(`N=${size}: table ${table.toFixed(1)}, xstate ${xstate.toFixed(1)}, xstate / table ${ratio}`)
}

async function userTime(turn, calls) {
  const count = Math.ceil(2_000 / calls.length)
  const before = process.cpuUsage()
  for (let n = 0; n < count; n++) await turn(calls)
  return process.cpuUsage(before).user / (count * calls.length)
}
