import { writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { sep } from 'node:path'
import { parseArgs } from 'node:util'
import { builtCalls, builtTurn, distOf } from './built-turn.mjs'

/** Where the time of a turn goes: `npm run bench:profile -- --calls 100`. Warm turns only, sampled in this process. */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    calls: { type: 'string', default: '100' },
    mix: { type: 'string', default: 'safe' },
    seconds: { type: 'string', default: '4' },
    top: { type: 'string', default: '30' },
    out: { type: 'string' },
  },
})
const dist = distOf(positionals[0])
const turn = await builtTurn(dist)
const interval = 100
const calls = builtCalls(Number(options.calls), options.mix)

await turnsFor(1)
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.setSamplingInterval', { interval })
await session.post('Profiler.start')
const usage = process.cpuUsage()
const turns = await turnsFor(Number(options.seconds))
const { user } = process.cpuUsage(usage)
const { profile } = await session.post('Profiler.stop')
session.disconnect()

if (options.out) await writeFile(options.out, JSON.stringify(profile))
print(selfTimes(profile))

async function turnsFor(seconds) {
  const end = performance.now() + seconds * 1_000
  let count = 0
  do {
    await turn(calls)
    count++
  } while (performance.now() < end)
  return count
}

/** Counts samples, not the time between them, which is long while another process has the CPU. */
function selfTimes({ nodes, samples }) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const functions = new Map()
  for (const id of samples) {
    const frame = frames.get(id)
    if (frame.functionName === '(idle)') continue
    const key = `${frame.functionName || '(anonymous)'}  ${placeOf(frame)}`
    functions.set(key, (functions.get(key) ?? 0) + 1)
  }
  return functions
}

function placeOf({ url, lineNumber }) {
  if (url === '') return ''
  const path = url.replace('file://', '')
  const inModules = path.lastIndexOf(`node_modules${sep}`)
  const short = inModules < 0 ? path.replace(`${dist}${sep}`, '') : path.slice(inModules + 'node_modules/'.length)
  return `${short}:${lineNumber + 1}`
}

function print(functions) {
  const total = [...functions.values()].reduce((sum, count) => sum + count, 0)
  const made = turns * calls.length
  const line = ([name, count]) => {
    const share = count / total
    const time = (share * user) / made
    console.log(`${(share * 100).toFixed(1).padStart(5)} % ${time.toFixed(2).padStart(7)} µs/call  ${name}`)
  }
  const most = (counts) => [...counts].sort(([, a], [, b]) => b - a).slice(0, Number(options.top))
  console.log(
    `${dist}: ${made} calls in turns of ${calls.length}, ${(user / made).toFixed(1)} µs of user CPU per call\n`,
  )
  most(groups(functions)).forEach(line)
  console.log()
  most(functions).forEach(line)
}

/** The same, grouped by package or by folder of this project. */
function groups(functions) {
  const counts = new Map()
  for (const [key, count] of functions) {
    const [name, place] = key.split('  ')
    const group = place === '' ? name : (/^(node(?=:)|src\/[^/]+|[^/]+)/.exec(place)?.[0] ?? place)
    counts.set(group, (counts.get(group) ?? 0) + count)
  }
  return counts
}
