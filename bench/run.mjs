import { readFile, writeFile } from 'node:fs/promises'
import { measureBundles } from './axes/bundle-sizes.mjs'
import { measureLatency } from './axes/latency.mjs'
import { measureLongQuery } from './axes/long-query.mjs'
import { measureMemory } from './axes/memory.mjs'
import { openEngines } from './axes/open-engines.mjs'
import { measureOverhead } from './axes/overhead.mjs'
import { measureOverlap } from './axes/overlap.mjs'
import { measureProgress } from './axes/progress.mjs'
import { measureStartUp } from './axes/start-up.mjs'
import { verifyAll } from './axes/verify-all.mjs'
import { everyEngine } from './engine-list.mjs'
import { assertComplete } from './report/assert-complete.mjs'
import { chart } from './report/chart.mjs'
import { describeMachine } from './report/machine.mjs'
import { report } from './report/report.mjs'
import { writeTables } from './report/write-tables.mjs'
import { readSettings } from './settings.mjs'

const picture = new URL('../docs/images/overhead.svg', import.meta.url)
const lastRun = new URL('last-run.json', import.meta.url)
const settings = readSettings(process.argv.slice(2))
const start = performance.now()
const tell = (text) =>
  process.stderr.write(`${((performance.now() - start) / 1_000).toFixed(0).padStart(4)} s  ${text}\n`)

const measured = settings.from ? JSON.parse(await readFile(settings.from, 'utf8')) : await measure()
assertComplete(measured, settings)
const text = report(measured, settings)
if (settings.markdown) {
  await writeTables(text)
  await writeFile(picture, chart(measured, settings))
}
console.log(settings.json ? JSON.stringify(measured, null, 2) : `\n${text}`)
tell('done')

async function measure() {
  const { clients, about, leftOut } = await openEngines(everyEngine)
  const figures = await measureOpened(clients)
  // after the engines are closed, so that each start has the machine to itself
  const startUp = await measureStartUp(clients, settings, tell)
  const longQuery = await measureLongQuery(settings, tell)
  const bundles = await measureBundles(tell)
  const { rounds, largeRounds, cpu: isCpu } = settings
  const how = { rounds, largeRounds, isCpu }
  const found = { machine: describeMachine(), how, about, leftOut, ...figures, startUp, longQuery, bundles }
  // --from makes the tables from this file again
  if (!settings.quick) await writeFile(lastRun, JSON.stringify(found))
  return found
}

async function measureOpened(clients) {
  try {
    tell(`${clients.size} engines loaded`)
    const verified = await verifyAll(clients, settings, tell)
    const cells = await measureOverhead(clients, verified, settings, tell)
    const latency = await measureLatency(clients, settings, tell)
    const progress = await measureProgress(clients, settings, tell)
    const overlap = await measureOverlap(clients, settings, tell)
    // last, because forced garbage collections change the state of the processes
    const memory = await measureMemory(clients, verified, settings, tell)
    return { cells, latency, progress, overlap, memory }
  } finally {
    for (const client of clients.values()) client.close()
  }
}
