import { cellOf, growthOf, ratioOf } from './measure.mjs'
import { engineNames } from './settings.mjs'
import { mixes } from './workload.mjs'

const leftOut = '–'
const count = (value) => value.toLocaleString('en-US')
const figure = (value) => (value === undefined ? leftOut : value < 10 ? value.toFixed(1) : count(Math.round(value)))

const pairs = engineNames.flatMap((engine) =>
  ['counters', 'floor'].filter((base) => base !== engine && engine !== 'floor').map((base) => [engine, base]),
)

/** Everything that was measured, as Markdown that reads well in a terminal too. */
export function report(measured, settings, machine) {
  const sections = Object.keys(mixes).map((mix) => mixSection(measured, settings, mix))
  return [machineLine(machine, settings), ...sections, memorySection(measured), overlapSection(measured)].join('\n\n')
}

function machineLine({ cpu, cores, node, platform, date }, { quick, rounds, largeRounds }) {
  const where = `${cpu}, ${cores} cores, ${platform}, Node ${node}, ${date}.`
  if (quick) return `${where} A quick run: the results are checked, the times say nothing.`
  return `${where} Rounds: ${rounds}, at N=10,000 ${largeRounds}.`
}

function mixSection(measured, { sizes }, mix) {
  const times = engineNames.map((engine) => [engine, ...sizes.map((size) => time(cellOf(measured, engine, mix, size)))])
  const ratios = pairs.map(([engine, base]) => [
    `${engine} / ${base}`,
    ...sizes.map((size) => figure(ratioOf(measured, engine, base, mix, size))),
  ])
  const growth = engineNames
    .map((engine) => [engine, growthOf(measured, engine, mix)])
    .filter(([, times]) => times !== undefined)
    .map(([engine, times]) => `${engine} ${times.toFixed(2)}`)
  const columns = sizes.map((size) => `N=${count(size)}`)
  const blocks = [
    `### ${mixes[mix].title}`,
    'µs per call: median of the rounds (quartiles)',
    table(['engine', ...columns], times),
    'Ratios, each taken within a round: median of the rounds',
    table(['', ...columns], ratios),
  ]
  if (growth.length > 0) blocks.push(`Growth, µs per call at N=10,000 over N=100: ${growth.join(', ')}.`)
  return blocks.join('\n\n')
}

const time = (cell) => (cell ? `${figure(cell.median)} (${figure(cell.low)}–${figure(cell.high)})` : leftOut)

function memorySection({ memory }) {
  const bytes = (value) => count(Math.round(value) + 0)
  const rows = memory.map(({ engine, held, dropped }) => [engine, bytes(held), bytes(dropped)])
  return [
    '### Memory',
    `Bytes of heap per call after a turn of ${count(memory[0].size)} safe calls whose results were read and let go`,
    table(['engine', 'executor held', 'executor dropped'], rows),
  ].join('\n\n')
}

function overlapSection({ overlap }) {
  const scenarios = [...new Set(overlap.map(({ scenario }) => scenario))]
  const names = [...new Set(overlap.map(({ engine }) => engine))]
  const cell = (engine, scenario) => overlap.find((each) => each.engine === engine && each.scenario === scenario)
  const shown = ({ first, end, overlapped }) =>
    `${Math.round(first)} / ${Math.round(end)}${overlapped ? ' (side by side!)' : ''}`
  return [
    '### Overlap',
    'Five calls whose blocks end at 50, 100 … 250 ms of a stream. Milliseconds until the first result is in hand, and until all are',
    table(
      ['engine', ...scenarios],
      names.map((engine) => [engine, ...scenarios.map((scenario) => shown(cell(engine, scenario)))]),
    ),
  ].join('\n\n')
}

function table(head, rows) {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column].length)))
  const line = (row) =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join(' | ')} |`
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n')
}
