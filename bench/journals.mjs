// Compares journals with the floor of their medium, in one run: write + fdatasync for files, INSERT for PostgreSQL,
// XADD for Redis.
// node bench/journals.mjs [--rounds 7] [--appends 100] [--postgres postgres://…] [--redis redis://…]. Needs a build.
import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import pg from 'pg'
import { fileJournals } from '../dist/src/node/index.js'
import { redisJournals } from '../packages/bullmq/dist/index.js'
import { postgresJournals } from '../packages/postgres/dist/index.js'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    appends: { type: 'string', default: '100' },
    postgres: { type: 'string' },
    redis: { type: 'string' },
  },
})
const [rounds, appends] = [Number(values.rounds), Number(values.appends)]
const record = { t: 'call.started', reply: 'msg_01', call: 'toolu_01', input: { command: 'x'.repeat(300) } }
const line = Buffer.from(`${JSON.stringify({ n: 1, at: 1, c: 1, ...record })}\n`)

console.log(`${rounds} rounds of ${appends} appends, ${os.cpus()[0]?.model.trim()}, Node ${process.versions.node}`)
await files()
if (values.postgres === undefined) console.log('PostgreSQL: pass --postgres postgres://…')
else await postgres(values.postgres)
if (values.redis === undefined) console.log('Redis: pass --redis redis://…')
else await redis(values.redis)

async function files() {
  const folder = mkdtempSync(join(os.tmpdir(), 'signalbox-bench-'))
  const store = fileJournals({ folder })
  const journal = await store.open('s', { owner: 'bench', mode: 'create' })
  const plain = await open(join(folder, 'plain'), 'wx+')
  let position = 0
  await compare('file', {
    'write + fdatasync': async () => {
      await plain.write(line, 0, line.length, position)
      position += line.length
      await plain.datasync()
    },
    'append + flush': () => appendTo(journal),
  })
  await plain.close()
  await journal.close()
  await cpu(store)
  await resume(store)
  rmSync(folder, { recursive: true })
}

async function postgres(connectionString) {
  const pool = new pg.Pool({ connectionString })
  await pool.query('drop schema if exists signalbox_bench cascade')
  const store = postgresJournals({ pool, schema: 'signalbox_bench' })
  const journal = await store.open('s', { owner: 'bench', mode: 'create' })
  await pool.query('create table signalbox_bench.plain (session text, n integer, body text, primary key (session, n))')
  let n = 0
  const text = 'insert into signalbox_bench.plain values ($1, $2, $3)'
  await compare('PostgreSQL', {
    'plain INSERT': () => pool.query({ name: 'plain', text, values: ['s', n++, line.toString()] }),
    'append + flush': () => appendTo(journal),
  })
  await journal.close()
  await pool.query('drop schema signalbox_bench cascade')
  await pool.end()
}

async function redis(connection) {
  const plain = new Redis(connection)
  const store = redisJournals({ connection, prefix: 'signalbox-bench' })
  await store.remove('s')
  const journal = await store.open('s', { owner: 'bench', mode: 'create' })
  await compare('Redis', {
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
async function compare(title, ways) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
  for (const run of Object.values(ways)) for (let n = 0; n < 20; n++) await run()
  for (let n = 0; n < rounds * appends; n++) {
    for (const [name, run] of Object.entries(ways)) {
      const start = performance.now()
      await run()
      times[name].push(performance.now() - start)
    }
  }
  const [floor, ours] = Object.values(times).map(median)
  const text = Object.entries(times).map(([name, all]) => `${name} ${(median(all) * 1_000).toFixed(0)} µs`)
  console.log(`${title}: ${text.join(', ')}; ratio ${(ours / floor).toFixed(2)}`)
}

/** A read-only turn of 100 flushes twice; the rest is the cost of appending. */
async function cpu(store) {
  const journal = await store.open('cpu', { owner: 'bench', mode: 'create' })
  const turns = 100
  const before = process.cpuUsage()
  for (let turn = 0; turn < turns; turn++) {
    for (let call = 0; call < 100; call++) {
      journal.append(record)
      if (call === 50 || call === 99) await journal.flush()
    }
  }
  const { user, system } = process.cpuUsage(before)
  console.log(`file: ${((user + system) / turns / 100).toFixed(1)} µs of CPU per record, 2 flushes per 100 records`)
  await journal.close()
}

async function resume(store) {
  const journal = await store.open('long', { owner: 'bench', mode: 'create' })
  for (let call = 0; call < 1_000; call++) {
    for (const t of ['reply.block', 'call.started', 'call.completed']) journal.append({ ...record, t })
  }
  await journal.close()
  const times = []
  for (let n = 0; n < rounds; n++) {
    const start = performance.now()
    const again = await store.open('long', { owner: 'bench', mode: 'resume' })
    times.push(performance.now() - start)
    await again.close()
  }
  console.log(`file: open of 1,000 calls (3,000 records) ${median(times).toFixed(1)} ms`)
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}
