import { fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { builtCalls, builtTurn, distOf } from './built-turn.mjs'

/**
 * CPU time per call of one build, or of several alternating: `node bench/cpu.mjs [dist …]`.
 * Other load on the machine affects CPU time less than wall-clock time. With `--bytes`: bytes allocated per call instead,
 * which do not depend on other load at all.
 */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mix: { type: 'string', default: 'safe' },
    calls: { type: 'string', default: '1,10,100,1000,10000' },
    rounds: { type: 'string', default: '7' },
    bytes: { type: 'boolean', default: false },
    child: { type: 'boolean', default: false },
  },
})
const sizes = options.calls.split(',').map(Number)

if (options.child) await answer()
else await ask(positionals.length > 0 ? positionals.map(distOf) : [distOf()])

async function answer() {
  const turn = await builtTurn(positionals[0])
  const measure = options.bytes ? allocated : userTime
  process.on('message', async (size) => process.send(await measure(turn, builtCalls(size, options.mix))))
  for (let warm = 0; warm < 200; warm++) await turn(builtCalls(50, options.mix))
  process.send('ready')
}

/** User time of all threads, including garbage collection, over at least 3,000 calls. */
async function userTime(turn, calls) {
  const turns = Math.ceil(3_000 / calls.length)
  const before = process.cpuUsage()
  for (let n = 0; n < turns; n++) await turn(calls)
  return process.cpuUsage(before).user / (turns * calls.length)
}

/** Bytes of the heap over about 2,000 calls. The young generation has room for all of them, so none is collected. */
async function allocated(turn, calls) {
  const turns = Math.ceil(2_000 / calls.length)
  globalThis.gc()
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < turns; n++) await turn(calls)
  return (process.memoryUsage().heapUsed - before) / (turns * calls.length)
}

async function ask(dists) {
  const args = ['--child', '--mix', options.mix, ...(options.bytes ? ['--bytes'] : [])]
  const execArgv = options.bytes ? ['--expose-gc', '--min-semi-space-size=512', '--max-semi-space-size=512'] : []
  const builds = dists.map((dist) => ({
    dist,
    child: fork(import.meta.filename, [...args, dist], { execArgv }),
    times: new Map(),
  }))
  for (const { child } of builds) await said(child)
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const size of sizes) {
      for (const { child, times } of builds) {
        child.send(size)
        times.set(size, [...(times.get(size) ?? []), await said(child)])
      }
    }
  }
  for (const { child } of builds) child.disconnect()
  print(builds)
}

function said(child) {
  return new Promise((resolve, reject) => {
    const onExit = (code) => reject(new Error(`a build ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message)
    })
  })
}

function print(builds) {
  const rows = builds.flatMap(({ dist, times }) => [
    [dist, ...sizes.map((size) => middle(times.get(size)).toFixed(1))],
    ['  least', ...sizes.map((size) => Math.min(...times.get(size)).toFixed(1))],
  ])
  for (const { dist, times } of builds.slice(1)) {
    const ratio = (size) => middle(times.get(size).map((time, round) => time / builds[0].times.get(size)[round]))
    rows.push([`${dist} / first`, ...sizes.map((size) => ratio(size).toFixed(2))])
  }
  const width = Math.max(...rows.map(([name]) => name.length))
  const heads = sizes.map((size) => `N=${size}`)
  console.log(
    `${options.bytes ? 'bytes allocated' : 'user CPU µs'} per call, ${options.mix}, Node ${process.versions.node}: median and least of the rounds`,
  )
  for (const [name, ...cells] of [['', ...heads], ...rows]) {
    console.log(name.padEnd(width), ...cells.map((cell) => cell.padStart(9)))
  }
}

function middle(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
