// Measures how soon others go on where a process was killed: a session whose orchestrator is lost, and a call whose worker
// is lost. node bench/takeover.mjs [--rounds 10] [--lock 3000] [--check 1000]. Needs a build and redis-server.
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { allowAllTools } from '../dist/src/index.js'
import { scriptedModel } from '../dist/src/query/scripted/index.js'
import { remote } from '../dist/src/remote/index.js'
import { bullRunner, redisJournals, serveSessions, serveTools, sessionQueue } from '../packages/bullmq/dist/index.js'
import { startRedis } from './redis-server.mjs'
import { quantile } from './statistics.mjs'

const toolsModule = `
const inputSchema = { toJSONSchema: () => ({ properties: {} }), safeParseAsync: async (data) => ({ success: true, data }) }
const named = (name) => ({
  name,
  inputSchema,
  isReadOnly: () => name === 'Look',
  async call(_input, _context, _can, _message, onProgress) {
    onProgress({ data: 'begun' })
    await new Promise(() => setInterval(() => undefined, 60_000))
  },
})
export const [look, pay] = ['Look', 'Pay'].map(named)`

const onWarning = () => undefined
const roles = { orchestrator, worker }
const role = roles[process.argv[2]]
if (role === undefined) await measure()
else await role(JSON.parse(process.argv[3]))

/** Runs sessions whose only call never ends, and says which it has begun. */
async function orchestrator({ connection, lockMs, checkMs }) {
  process.on('disconnect', () => process.exit())
  const wait = {
    name: 'Wait',
    inputSchema: z.object({ key: z.string() }),
    isReadOnly: () => true,
    call({ key }) {
      process.send({ key })
      return new Promise(() => undefined)
    },
  }
  const journals = redisJournals({ connection, onWarning, lockMs })
  const build = (id) => ({
    tools: [wait],
    model: scriptedModel([[{ call: 'Wait', input: { key: id } }]]),
    canUseTool: allowAllTools,
  })
  await serveSessions({ connection, journals, build, lockMs, checkMs, onWarning })
  process.send('ready')
}

async function worker({ connection, lockMs, checkMs, tools }) {
  process.on('disconnect', () => process.exit())
  await serveTools({ connection, tools, lockMs, checkMs, onWarning })
  process.send('ready')
}

async function measure() {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '10' },
      lock: { type: 'string', default: '3000' },
      check: { type: 'string', default: '1000' },
    },
  })
  const [rounds, lockMs, checkMs] = [values.rounds, values.lock, values.check].map(Number)
  const folder = mkdtempSync(join(os.tmpdir(), 'signalbox-bench-'))
  const tools = join(folder, 'tools.mjs')
  writeFileSync(tools, toolsModule)
  const redis = await startRedis('everysec')
  const place = { connection: redis.url, lockMs, checkMs, tools }
  console.log(`lock ${lockMs} ms, check ${checkMs} ms, ${rounds} kills each, ${os.cpus()[0]?.model.trim()}`)
  try {
    report('a session goes on at another orchestrator', await lostOrchestrators(place, rounds), lockMs + checkMs)
    const { again, unknown } = await lostWorkers(place, rounds)
    report('a read-only call runs again at another worker', again, lockMs + checkMs)
    report('a call with effects has an unknown outcome', unknown, lockMs + checkMs)
  } finally {
    await redis.end()
    rmSync(folder, { recursive: true })
  }
}

/** One session in each round: its orchestrator is killed while its body runs, and another begins the body again. */
async function lostOrchestrators(place, rounds) {
  const journals = redisJournals({ connection: place.connection, onWarning })
  const sessions = sessionQueue({ connection: place.connection, journals, onWarning })
  const times = []
  const others = new Set([await start('orchestrator', place)])
  try {
    for (let round = 0; round < rounds; round++) {
      others.add(await start('orchestrator', place))
      const id = `session-${round}`
      const first = begun(others, id)
      await sessions.send(id, 'Wait.')
      const lost = await first
      others.delete(lost)
      const next = begun(others, id)
      times.push(await afterKill(lost, next))
    }
  } finally {
    for (const child of others) child.kill('SIGKILL')
    await sessions.end()
    await journals.end()
  }
  return times
}

/** Resolves with the process that begins the body of this session. */
function begun(children, id) {
  return new Promise((resolve) => {
    for (const child of children) {
      child.on('message', function hear({ key }) {
        if (key !== id) return
        child.off('message', hear)
        resolve(child)
      })
    }
  })
}

/** Both calls of a round run on the same worker, which is killed. */
async function lostWorkers(place, rounds) {
  const runner = bullRunner({ connection: place.connection, onWarning })
  const inputJSONSchema = { properties: {}, type: 'object' }
  const [look, pay] = ['Look', 'Pay'].map((name) => {
    const isReadOnly = () => name === 'Look'
    const tool = { name, inputSchema: z.looseObject({}), inputJSONSchema, isReadOnly, call: () => undefined }
    return remote(tool, runner)
  })
  const times = { again: [], unknown: [] }
  try {
    for (let round = 0; round < rounds; round++) {
      const lost = await start('worker', place)
      const stop = new AbortController()
      const calls = [look, pay].map((tool) => callOf(tool, `${tool.name}-${round}`, stop))
      await Promise.all(calls.map((call) => call.begins()))
      const next = await start('worker', place)
      const again = calls[0].begins()
      const [untilAgain, untilUnknown] = await Promise.all([afterKill(lost, again), afterKill(lost, calls[1].ends)])
      times.again.push(untilAgain)
      times.unknown.push(untilUnknown)
      stop.abort('enough')
      next.kill('SIGKILL')
      await calls[0].ends
    }
  } finally {
    await runner.end()
  }
  return times
}

/** A remote call. `begins` resolves when its body begins the next time, `ends` with the error in which the call ends. */
function callOf(tool, toolUseID, abortController) {
  let tell = () => undefined
  const context = { toolUseID, abortController }
  const ends = tool.call({}, context, undefined, { message: { id: 'r' } }, () => tell()).catch((error) => error)
  const begins = () =>
    new Promise((resolve, reject) => {
      tell = resolve
      ends.then(reject)
    })
  return { ends, begins }
}

async function afterKill(child, happens) {
  child.kill('SIGKILL')
  const from = performance.now()
  await happens
  return performance.now() - from
}

async function start(name, place) {
  const child = fork(fileURLToPath(import.meta.url), [name, JSON.stringify(place)])
  await new Promise((resolve, reject) => {
    child.on('message', (said) => said === 'ready' && resolve())
    child.once('exit', () => reject(new Error(`The ${name} ended.`)))
  })
  child.removeAllListeners('exit')
  return child
}

function report(what, times, most) {
  const [p50, max] = [0.5, 1].map((part) => quantile(times, part))
  const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`
  console.log(`${what}: p50 ${seconds(p50)}, most ${seconds(max)}, ${(max / most).toFixed(2)} of lock + check`)
}
