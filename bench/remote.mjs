// Compares remote tools with BullMQ alone, in one run and on one Redis: one call, 64 in flight, cancel, progress, and
// what each call costs Redis. Like is compared with like: bodies in child processes with BullMQ's sandboxed processors,
// and bodies in the worker with BullMQ's plain ones. node bench/remote.mjs [--calls 300] [--redis redis://…]. Needs a build.
// Without --redis it starts redis-server by itself, with appendfsync everysec and always.
import { fork } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Queue, QueueEvents, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { z } from 'zod'
import { remote } from '../dist/src/remote/index.js'
import { bullRunner, serveTools } from '../packages/bullmq/dist/index.js'
import { startRedis } from './redis-server.mjs'
import { quantile } from './statistics.mjs'

const concurrency = 8
const inFlight = 64
const toolsModule = `
const inputSchema = { toJSONSchema: () => ({ properties: {} }), safeParseAsync: async (data) => ({ success: true, data }) }
export const work = { name: 'Work', inputSchema, async call({ ms }, { abortController: { signal } }, _can, _message, onProgress) {
  if (ms === undefined) return { data: 'done' }
  onProgress({ data: Date.now() })
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()))
  })
  return { data: 'done' }
} }`

if (process.argv[2] === 'worker') await serve(...process.argv.slice(3))
else await measure()

/** The workers, in a process of their own: two of BullMQ alone, two of ours. */
async function serve(connection, tools, processor) {
  process.on('disconnect', () => process.exit())
  const { hostname, port } = new URL(connection)
  const plain = { host: hostname, port: Number(port), maxRetriesPerRequest: null }
  for (const [name, work] of [
    ['plain', async () => 'done'],
    ['sandboxed', pathToFileURL(processor)],
  ]) {
    await new Worker(name, work, { connection: plain, concurrency }).waitUntilReady()
  }
  const redis = new Redis(connection)
  const served = { connection, tools, concurrency, onWarning: () => undefined }
  await serveTools({ ...served, labels: ['inside'], bodies: 'worker' })
  const before = await clientsOf(redis)
  await serveTools(served)
  process.send({ connections: (await clientsOf(redis)) - before })
  redis.disconnect()
}

async function measure() {
  const { values } = parseArgs({ options: { calls: { type: 'string', default: '300' }, redis: { type: 'string' } } })
  const calls = Number(values.calls)
  console.log(`${calls} calls, ${os.cpus()[0]?.model.trim()}, ${os.cpus().length} cores, Node ${process.versions.node}`)
  if (values.redis !== undefined) return compare(values.redis, calls)
  for (const appendfsync of ['everysec', 'always']) {
    const server = await startRedis(appendfsync)
    console.log(`\nRedis with appendfsync ${appendfsync}`)
    await compare(server.url, calls).finally(() => server.end())
  }
}

async function compare(connection, calls) {
  const folder = mkdtempSync(join(os.tmpdir(), 'signalbox-bench-'))
  const tools = join(folder, 'tools.mjs')
  writeFileSync(tools, toolsModule)
  const processor = join(folder, 'processor.mjs')
  writeFileSync(processor, "export default async () => 'done'")
  const child = fork(fileURLToPath(import.meta.url), ['worker', connection, tools, processor])
  const { connections } = await new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', () => reject(new Error('The process of the workers ended.')))
  })
  const { hostname, port } = new URL(connection)
  const plain = { host: hostname, port: Number(port), maxRetriesPerRequest: null }
  const queues = ['plain', 'sandboxed'].map((name) => ({
    queue: new Queue(name, { connection: plain }),
    events: new QueueEvents(name, { connection: plain }),
  }))
  for (const { queue, events } of queues) {
    // each job that is waited for adds a listener
    for (const emitter of [queue, events]) emitter.setMaxListeners(0)
    await events.waitUntilReady()
  }
  const redis = new Redis(connection)
  const before = await clientsOf(redis)
  const runner = bullRunner({ connection, onWarning: () => undefined })
  await runner.ready()
  console.log(`connections: ${(await clientsOf(redis)) - before} of a host, ${connections} of a worker with one label`)
  const insideRunner = bullRunner({ connection, label: 'inside', onWarning: () => undefined })
  await insideRunner.ready()
  const toolOf = (run) =>
    remote(
      {
        name: 'Work',
        inputSchema: z.looseObject({}),
        inputJSONSchema: { properties: {}, type: 'object' },
        call: () => undefined,
      },
      run,
    )
  const kept = { removeOnComplete: { age: 3_600 } }
  let made = 0
  const callOf =
    (tool) =>
    (input = {}, stop = new AbortController(), onProgress = () => undefined) =>
      tool.call(
        input,
        { toolUseID: `c${++made}`, abortController: stop },
        undefined,
        { message: { id: 'r' } },
        onProgress,
      )
  const call = callOf(toolOf(runner))
  const inside = callOf(toolOf(insideRunner))
  const bullOf =
    ({ queue, events }) =>
    async () =>
      (await queue.add('x', {}, kept)).waitUntilFinished(events)
  const ways = {
    'BullMQ, handler in the worker': bullOf(queues[0]),
    'remote(), bodies in the worker': () => inside(),
    'BullMQ, sandboxed in processes': bullOf(queues[1]),
    'remote(), bodies in processes': () => call(),
  }
  try {
    for (const run of Object.values(ways)) await atOnce(run, 100, concurrency)
    await single(ways, calls)
    await throughput(ways, calls * 4)
    await cost(redis, ways, calls, child.pid)
    await cancel(call, 60)
    await progress(call, 100)
    await idle(redis, call)
  } finally {
    child.kill('SIGKILL')
    redis.disconnect()
    await Promise.all([runner.end(), insideRunner.end()])
    await Promise.all(queues.flatMap(({ queue, events }) => [queue.close(), events.close()]))
    rmSync(folder, { recursive: true })
  }
}

/** Alternates single calls, so that all meet the same load. */
async function single(ways, calls) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
  for (let n = 0; n < calls; n++) {
    for (const [name, run] of Object.entries(ways)) times[name].push(await timed(run))
  }
  for (const [name, p50, ratio] of pairs(times)) console.log(`one call, p50, ${name}: ${ms(p50)}${ratio}`)
}

async function throughput(ways, calls) {
  const rates = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
  for (let round = 0; round < 3; round++) {
    for (const [name, run] of Object.entries(ways)) {
      rates[name].push((1_000 * calls) / (await timed(() => atOnce(run, calls, inFlight))))
    }
  }
  for (const [name, p50, ratio] of pairs(rates)) {
    console.log(`${inFlight} in flight, ${concurrency} bodies at once, ${name}: ${p50.toFixed(0)}/s${ratio}`)
  }
}

/** Medians, each of ours with its ratio to that of BullMQ just before it. */
function pairs(measured) {
  const all = Object.entries(measured).map(([name, values]) => [name, quantile(values, 0.5)])
  return all.map(([name, p50], at) => [name, p50, at % 2 === 0 ? '' : `, ratio ${(p50 / all[at - 1][1]).toFixed(2)}`])
}

/** Commands of Redis, and the time that they take there. */
async function cost(redis, ways, calls, worker) {
  for (const [name, run] of Object.entries(ways)) {
    const before = await commandsOf(redis)
    const cpuBefore = processorTimes(worker)
    await atOnce(run, calls, inFlight)
    const after = await commandsOf(redis)
    const cpu = Object.entries(processorTimes(worker)).map(
      ([place, time]) => `${place} ${((1_000 * (time - cpuBefore[place])) / calls).toFixed(0)} µs`,
    )
    if (cpu.length > 0) console.log(`processor per call, ${name}: ${cpu.join(', ')}`)
    const count = (after.calls - before.calls) / calls
    const micros = (after.usec - before.usec) / calls
    const most = (1e6 / micros).toFixed(0)
    console.log(
      `Redis per call, ${name}: ${count.toFixed(1)} commands, ${micros.toFixed(0)} µs; at most ${most} calls/s on one core`,
    )
  }
}

async function cancel(call, calls) {
  const times = []
  for (let n = 0; n < calls; n++) {
    const stop = new AbortController()
    let start = 0
    await call({ ms: 60_000 }, stop, () => {
      start = performance.now()
      stop.abort('enough')
    }).catch(() => undefined)
    times.push(performance.now() - start)
  }
  console.log(`cancel: p50 ${ms(quantile(times, 0.5))}, p95 ${ms(quantile(times, 0.95))}`)
}

/** Both ends are on this machine, so they have one clock. */
async function progress(call, calls) {
  const times = []
  for (let n = 0; n < calls; n++) {
    await call({ ms: 5 }, undefined, ({ data }) => void times.push(Date.now() - data))
  }
  console.log(`progress: p50 ${ms(quantile(times, 0.5))}, p95 ${ms(quantile(times, 0.95))} (${times.length} reports)`)
}

/** What a worker costs that waits, and a call that only runs. */
async function idle(redis, call) {
  const seconds = 10
  const commandsIn = async (work) => {
    const before = await commandsOf(redis)
    await work()
    const after = await commandsOf(redis)
    return [(after.calls - before.calls) / seconds, (after.usec - before.usec) / seconds]
  }
  const rest = () => new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  const [quiet, quietMicros] = await commandsIn(rest)
  const stop = new AbortController()
  const running = Array.from({ length: concurrency }, () => call({ ms: 60_000 }, stop).catch(() => undefined))
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const [busy, busyMicros] = await commandsIn(rest)
  stop.abort('enough')
  await Promise.all(running)
  const per = (value, base) => ((value - base) / concurrency).toFixed(1)
  console.log(
    `at rest (one host, two workers of ours, two of BullMQ): ${quiet.toFixed(1)} commands/s, ${quietMicros.toFixed(0)} µs/s`,
  )
  console.log(`each running call: ${per(busy, quiet)} commands/s, ${per(busyMicros, quietMicros)} µs/s`)
}

async function atOnce(run, count, most) {
  let left = count
  const next = async () => {
    while (left-- > 0) await run()
  }
  await Promise.all(Array.from({ length: most }, next))
}

/** Calls inside scripts count too: they are work for Redis. */
async function commandsOf(redis) {
  const info = await redis.info('commandstats')
  let [calls, usec] = [0, 0]
  for (const [, name, count, time] of info.matchAll(/cmdstat_(\S+?):calls=(\d+),usec=(\d+)/g)) {
    calls += Number(count)
    // the time of a script contains that of its commands, so only what is sent by itself counts beside scripts
    if (/^(eval|evalsha|xread|bzpopmin|hgetall|exists|publish|info)$/.test(name)) usec += Number(time)
  }
  return { calls, usec }
}

/** Milliseconds of processor time so far, in steps of ten; nothing where there is no /proc. */
function processorTimes(worker) {
  const times = { host: 0, worker: 0, bodies: 0 }
  if (!existsSync('/proc/self/stat')) return {}
  for (const name of readdirSync('/proc')) {
    const { pid, parent, ms } = processOf(name)
    if (pid === process.pid) times.host += ms
    else if (pid === worker) times.worker += ms
    else if (parent === worker) times.bodies += ms
  }
  return times
}

/** Empty if that is no process, or if it has just ended. */
function processOf(name) {
  try {
    const text = readFileSync(`/proc/${Number(name)}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { pid: Number(name), parent: Number(fields[1]), ms: 10 * (Number(fields[11]) + Number(fields[12])) }
  } catch {
    return {}
  }
}

async function clientsOf(redis) {
  return Number(/connected_clients:(\d+)/.exec(await redis.info('clients'))[1])
}

async function timed(run) {
  const start = performance.now()
  await run()
  return performance.now() - start
}

function ms(value) {
  return `${value.toFixed(1)} ms`
}
