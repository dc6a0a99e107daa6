// Runs random turns with faults until the time is over or a breach is found.
//   npm run soak -- --minutes 10
//   npm run soak -- --turns 10000 --seed 1
import { simulate } from '../dist/src/testing/index.js'

const flagged = (flag, otherwise) => {
  const at = process.argv.indexOf(flag)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
const turns = flagged('--turns', Number.POSITIVE_INFINITY)
const minutes = flagged('--minutes', Number.isFinite(turns) ? Number.POSITIVE_INFINITY : 1)
const begin = performance.now()
const left = () => minutes * 60_000 - (performance.now() - begin)
let done = 0
for (let seed = flagged('--seed', Date.now() % 1_000_000); done < turns && left() > 0; seed++) {
  const { report, breach, runs } = await simulate({ seed, runs: Math.min(1_000, turns - done), maxMs: left() })
  done += runs
  console.log(report)
  if (breach === undefined) continue
  console.log(breach.test)
  process.exit(1)
}
console.log(`${done} turns: no breach found`)
