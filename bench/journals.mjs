// Compares journals with the floor of their medium, in one run: write + fdatasync for files, INSERT for PostgreSQL,
// XADD for Redis. Then whole sessions: a read-only turn, a turn with effects, a resume, and the cost without a journal.
// Every floor alternates with single operations of the journal, because the same disk may be twice as fast a second later.
// node bench/journals.mjs [--servers] [--before other/dist] [--rounds 7] [--appends 100] [--postgres postgres://…] [--redis redis://…]
// Needs a build. --servers starts PostgreSQL and Redis on loopback; --before compares the cost without a journal with an
// earlier build.
import fs, { fdatasync, mkdtempSync, rmSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import pg from 'pg'
import { runnerImport } from 'vite'
import { z } from 'zod'
import { openSession } from '../dist/src/durable/index.js'
import { createSession } from '../dist/src/index.js'
import { fileJournals } from '../dist/src/node/index.js'
import { redisJournals } from '../packages/bullmq/dist/index.js'
import { postgresJournals } from '../packages/postgres/dist/index.js'
import { mean, median } from './statistics.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    appends: { type: 'string', default: '100' },
    postgres: { type: 'string' },
    redis: { type: 'string' },
    servers: { type: 'boolean', default: false },
    before: { type: 'string' },
  },
})
const [rounds, appends] = [Number(values.rounds), Number(values.appends)]
const record = { t: 'call.started', reply: 'msg_01', call: 'toolu_01', input: { command: 'x'.repeat(300) } }
const line = Buffer.from(`${JSON.stringify({ n: 1, at: 1, c: 1, ...record })}\n`)
const folder = mkdtempSync(join(os.tmpdir(), 'signalbox-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const root = resolve(import.meta.dirname, '..')
/** Turns before the first measured one: until then V8 still compiles, and a turn costs several times as much. */
const warmUp = 300
let fsyncs = 0
const plains = []

/** Counts every sync of a file or a folder in this process. */
async function countFsyncs() {
  const file = await open(join(folder, 'any'), 'wx')
  const prototype = Object.getPrototypeOf(file)
  for (const [from, name] of [
    [prototype, 'sync'],
    [prototype, 'datasync'],
    [fs, 'fdatasync'],
  ]) {
    const original = from[name]
    from[name] = function (...given) {
      fsyncs++
      return original.apply(this, given)
    }
  }
  // the built library has imported it by name
  syncBuiltinESMExports()
  await file.close()
}

function row(...cells) {
  console.log(`| ${cells.join(' | ')} |`)
}

/** With the server that was named, or with one of our own. */
async function onServer(name, file, type, settings, measure) {
  if (values[name] !== undefined) return measure(values[name])
  if (!values.servers) return row(name, '–', '–', `pass --servers, or --${name} with an address`, '–')
  const { module } = await runnerImport(join(root, file), { configFile: false, root })
  const server = await module[type].start(...settings)
  try {
    await measure(server.url)
  } finally {
    await server.end()
  }
}

async function files() {
  const store = fileJournals({ folder: join(folder, 'appends') })
  const journal = await store.open('s', { owner: 'bench', mode: 'create' })
  await compare('file: one record, flushed', '≤ 1.5', {
    'write + fdatasync': await plainWrite(),
    'append + flush': () => appendTo(journal),
  })
  await journal.close()
}

/** The least that makes a line durable: the line goes to the cache at once, and one callback tells when it is on the disk. */
async function plainWrite() {
  const plain = await open(join(folder, `plain-${performance.now()}`), 'wx+')
  plains.push(plain)
  let position = 0
  return () =>
    new Promise((resolve, reject) => {
      writeSync(plain.fd, line, 0, line.length, position)
      position += line.length
      fdatasync(plain.fd, (error) => (error ? reject(error) : resolve()))
    })
}

async function postgres(connectionString) {
  const pool = new pg.Pool({ connectionString })
  // a server that is stopped ends its connections
  pool.on('error', () => undefined)
  await pool.query('drop schema if exists signalbox_bench cascade')
  const store = postgresJournals({ pool, schema: 'signalbox_bench' })
  const journal = await store.open('s', { owner: 'bench', mode: 'create' })
  await pool.query('create table signalbox_bench.plain (session text, n integer, body text, primary key (session, n))')
  let n = 0
  const text = 'insert into signalbox_bench.plain values ($1, $2, $3)'
  await compare('PostgreSQL: one record, flushed', '≤ 1.3', {
    'plain INSERT': () => pool.query({ name: 'plain', text, values: ['s', n++, line.toString()] }),
    'append + flush': () => appendTo(journal),
  })
  await journal.close()
  await pool.query('drop schema signalbox_bench cascade')
  await pool.end()
}

async function redis(connection) {
  const plain = new Redis(connection)
  const store = redisJournals({ connection, prefix: 'signalbox-bench', onWarning: () => undefined })
  await store.remove('s')
  const journal = await store.open('s', { owner: 'bench', mode: 'create' })
  await compare('Redis: one record, flushed', '≤ 1.3', {
    'plain XADD': () => plain.xadd('signalbox-bench:plain', '*', 'at', 1, 'body', line.toString()),
    'append + flush': () => appendTo(journal),
  })
  await journal.close()
  await store.remove('s')
  await plain.del('signalbox-bench:plain')
  await store.end()
  plain.disconnect()
}

async function appendTo(journal) {
  journal.append(record)
  await journal.flush()
}

/** Alternates single operations, so that all meet the same load. */
async function compare(title, target, ways) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
  for (const run of Object.values(ways)) for (let n = 0; n < warmUp * 10; n++) await run()
  for (let n = 0; n < rounds * appends; n++) {
    for (const [name, run] of Object.entries(ways)) times[name].push(await timeOf(run))
  }
  const [floor, ours] = Object.values(times).map(median)
  const cells = Object.entries(times).map(([name, all]) => `${name}: ${inUnits(median(all))}`)
  row(title, ...cells, (ours / floor).toFixed(2), target)
}

async function timeOf(run) {
  const start = performance.now()
  await run()
  return performance.now() - start
}

const inUnits = (ms) => (ms < 1 ? `${(ms * 1_000).toFixed(0)} µs` : `${ms.toFixed(1)} ms`)

const toolOf = (name, isReadOnly, call) => ({
  name,
  inputSchema: z.object({ n: z.number() }),
  isReadOnly: () => isReadOnly,
  isConcurrencySafe: () => isReadOnly,
  call,
})

const tools = [true, false].map((isReadOnly) =>
  toolOf(isReadOnly ? 'Read' : 'Write', isReadOnly, async ({ n }) => ({ data: `line ${n}` })),
)

/** A model that asks for this many calls in each of its replies, then ends. */
const modelOf = (name, calls, replies = 1) =>
  async function* ({ messages }) {
    const reply = messages.filter(({ role }) => role === 'assistant').length % (replies + 1)
    yield { type: 'message_start', message: { id: `msg_${messages.length}`, model: 'bench' } }
    for (let n = 0; n < (reply < replies ? calls : 0); n++) {
      const content_block = { type: 'tool_use', id: `toolu_${messages.length}_${n}`, name, input: {} }
      yield { type: 'content_block_start', index: n, content_block }
      const delta = { type: 'input_json_delta', partial_json: `{"n":${n}}` }
      yield { type: 'content_block_delta', index: n, delta }
      yield { type: 'content_block_stop', index: n }
    }
    yield { type: 'message_delta', delta: { stop_reason: reply < replies ? 'tool_use' : 'end_turn' } }
    yield { type: 'message_stop' }
  }

const rules = { permissions: { allow: ['Read', 'Write'] } }

async function play(session) {
  for await (const _ of session.send('go'));
}

let count = 0
const withFiles = (name, calls, replies, given = tools) =>
  openSession({
    id: `s${count++}`,
    journals: fileJournals({ folder: join(folder, 'sessions') }),
    tools: given,
    model: modelOf(name, calls, replies),
    context: rules,
    loopGuard: false,
  })
const inMemory = (name, calls) =>
  createSession({ tools, model: modelOf(name, calls), context: rules, loopGuard: false })

async function cpuOf(run) {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

async function readOnlyTurn() {
  const [plain, journaled, syncs] = [[], [], []]
  for (let n = 0; n < warmUp + rounds * 30; n++) {
    const floor = inMemory('Read', 100)
    plain.push(await cpuOf(() => play(floor)))
    await floor.close()
    const session = await withFiles('Read', 100)
    const before = fsyncs
    journaled.push(await cpuOf(() => play(session)))
    syncs.push(fsyncs - before)
    await session.close()
  }
  // garbage is collected in few turns only, so a median would leave it out
  const costs = [median, mean].map((of) => [plain, journaled].map((all) => of(all.slice(warmUp)) / 100))
  const more = costs.map(([floor, ours]) => (ours - floor).toFixed(0))
  const cells = [0, 1].map((which) => `${costs.map((cost) => cost[which].toFixed(0)).join(' / ')} µs of CPU per call`)
  const value = `${more.join(' / ')} µs of CPU more per call (median / mean); ${median(syncs)} fsyncs`
  row('read-only turn of 100', ...cells, value, '≤ 40 µs; ≤ 3 fsyncs')
}

/**
 * The effect of each call is one plain write and sync, so both sides meet the same disk. It begins when the event loop is
 * idle: otherwise the results that are delivered meanwhile would slow down the floor. A session delivers them while the
 * next start is written, so this counts too much for it rather than too little.
 */
async function unsafeTurn() {
  const write = await plainWrite()
  const step = () => new Promise(setImmediate)
  let floors = []
  const effect = async ({ n }) => {
    await step()
    await step()
    floors.push(await timeOf(write))
    return { data: `line ${n}` }
  }
  const effects = [toolOf('Write', false, effect)]
  const turns = []
  for (let n = 0; n < warmUp / 2 + rounds * 3; n++) {
    const session = await withFiles('Write', 100, 1, effects)
    floors = []
    const whole = await timeOf(() => play(session))
    const floor = mean(floors)
    turns.push({ floor, ours: whole / 100 - floor })
    await session.close()
  }
  const measured = turns.slice(warmUp / 2)
  const [floor, ours, ratio] = [({ floor }) => floor, ({ ours }) => ours, ({ floor, ours }) => ours / floor].map((of) =>
    median(measured.map(of)),
  )
  const cells = [`write + fdatasync: ${inUnits(floor)}`, inUnits(ours), ratio.toFixed(2)]
  row('unsafe call, in a turn of 100', ...cells, '≤ 1.5')
}

async function resume() {
  const session = await withFiles('Write', 100, 10)
  await play(session)
  await session.close()
  const { id } = session
  const [walls, cpus, sessions] = [[], [], []]
  for (let n = 0; n < rounds * 3; n++) {
    const journals = fileJournals({ folder: join(folder, 'sessions') })
    const options = { id, journals, tools, model: modelOf('Write', 0), mode: 'resume' }
    cpus.push(
      (await cpuOf(async () => {
        walls.push(await timeOf(async () => sessions.push(await openSession(options))))
      })) / 1_000,
    )
    const again = sessions.at(-1)
    if (again.transcript.length < 1_000) throw new Error(`The session has ${again.transcript.length} messages.`)
    await again.close()
  }
  row(
    'openSession on 1,000 calls',
    '–',
    `${median(cpus).toFixed(0)} ms of CPU`,
    `${median(walls).toFixed(0)} ms`,
    '≤ 100 ms',
  )
}

/** The executor and the query without a journal, against an earlier build. */
async function withoutJournal(before) {
  if (before === undefined) return row('no journal', '–', '–', 'pass --before with an earlier build', 'unchanged')
  const builds = await Promise.all(
    [before, join(root, 'dist')].map((dist) => import(pathToFileURL(resolve(dist, 'src/index.js')).href)),
  )
  const ways = {
    'no journal: executor, turn of 100':
      ({ StreamingToolExecutor, allowAllTools, createToolUseContext, createAssistantMessage }) =>
      async () => {
        const executor = new StreamingToolExecutor(tools, allowAllTools, createToolUseContext())
        const message = createAssistantMessage([])
        for (let n = 0; n < 100; n++)
          executor.addTool({ type: 'tool_use', id: `toolu_${n}`, name: 'Read', input: { n } }, message)
        for await (const _ of executor.getRemainingResults());
      },
    'no journal: query, turn of 100':
      ({ query, allowAllTools }) =>
      async () => {
        const run = query({ messages: 'go', tools, model: modelOf('Read', 100), canUseTool: allowAllTools })
        for await (const _ of run);
      },
  }
  for (const [title, way] of Object.entries(ways)) {
    const runs = builds.map(way)
    const times = builds.map(() => [])
    for (let n = 0; n < rounds * 20; n++)
      for (const [at, run] of runs.entries()) times[at].push((await cpuOf(run)) / 100)
    const [floor, ours] = times.map((all) => median(all.slice(rounds * 4)))
    const cells = [`before: ${floor.toFixed(1)} µs of CPU per call`, `now: ${ours.toFixed(1)} µs`]
    row(title, ...cells, (ours / floor).toFixed(2), 'unchanged')
  }
}

await countFsyncs()
const load = os.loadavg()[0].toFixed(1)
console.log(
  `${rounds} rounds of ${appends} appends, ${os.cpus()[0]?.model.trim()}, ${os.cpus().length} cores, load ${load}, Node ${process.versions.node}\n`,
)
console.log('| operation | floor | with a journal | ratio or value | target |\n|---|---|---|---|---|')
await withoutJournal(values.before)
await readOnlyTurn()
await unsafeTurn()
await files()
await onServer('postgres', 'packages/postgres/test/postgres-server.ts', 'PostgresServer', [[]], postgres)
const kept = [['--appendonly', 'yes', '--appendfsync', 'always']]
await onServer('redis', 'packages/bullmq/test/redis-server.ts', 'RedisServer', kept, redis)
await resume()
for (const plain of plains) await plain.close()
