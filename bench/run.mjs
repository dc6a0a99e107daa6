import { readFile, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { growthOf, measure, ratioOf } from './measure.mjs'
import { measureOverlap } from './overlap/measure.mjs'
import { report } from './report.mjs'
import { engineNames, readSettings } from './settings.mjs'
import { mixes } from './workload.mjs'

const page = new URL('../docs/performance.md', import.meta.url)
const markers = ['<!-- bench:start -->', '<!-- bench:end -->']

const settings = readSettings(process.argv.slice(2))
const start = performance.now()
const tell = (text) =>
  process.stderr.write(`${((performance.now() - start) / 1_000).toFixed(0).padStart(4)} s  ${text}\n`)

const measured = await measure(engineNames, settings, tell)
measured.overlap = await measureOverlap(settings.quick ? 1 : 5, tell)
assertComplete(measured)
const machine = describeMachine()
const text = report(measured, settings, machine)
if (settings.markdown) await writeTables(text)
console.log(settings.json ? JSON.stringify({ machine, ...measured, ...derived() }, null, 2) : `\n${text}`)
tell('done')

function describeMachine() {
  const cpus = os.cpus()
  return {
    cpu: cpus[0]?.model.trim() ?? 'unknown processor',
    cores: cpus.length,
    platform: `${os.type()} ${os.arch()}`,
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
  }
}

function derived() {
  const ratios = measured.cells.flatMap(({ engine, mix, size }) =>
    ['counters', 'floor'].map((base) => ({
      engine,
      base,
      mix,
      size,
      ratio: ratioOf(measured, engine, base, mix, size),
    })),
  )
  const growth = engineNames.flatMap((engine) =>
    Object.keys(mixes).map((mix) => ({ engine, mix, growth: growthOf(measured, engine, mix) })),
  )
  return { ratios, growth }
}

/** No time is judged, but each must be there. */
function assertComplete({ cells, memory }) {
  const figures = [...cells.map((cell) => cell.median), ...memory.flatMap(({ held, dropped }) => [held, dropped])]
  const isComplete = cells.length > 0 && cells.every((cell) => cell.median > 0) && figures.every(Number.isFinite)
  if (!isComplete) throw new Error('some figures are missing')
}

async function writeTables(tables) {
  const [before, rest] = split(await readFile(page, 'utf8'), markers[0])
  const [, after] = split(rest, markers[1])
  await writeFile(page, `${before}${markers[0]}\n\n${tables}\n\n${markers[1]}${after}`)
}

function split(text, marker) {
  const at = text.indexOf(marker)
  if (at < 0) throw new Error(`docs/performance.md has no ${marker}`)
  return [text.slice(0, at), text.slice(at + marker.length)]
}
