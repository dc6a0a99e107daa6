import { counterpartOf, extras, field, ruled } from '../engine-list.mjs'
import { mixes } from '../workload.mjs'
import { cellOf, growthOf, ratioOf } from './cells.mjs'
import { count, figure, leftOut, spread, table } from './table.mjs'

const columns = (sizes) => sizes.map((size) => `N=${count(size)}`)
const here = (names, { about }) => names.filter((name) => about[name])

/** Everybody, with calls that may all run side by side. */
export function fieldSection(measured, { sizes }) {
  const names = here(field, measured)
  const others = names.filter((name) => !name.startsWith('signalbox'))
  const isPlain = (name) => !measured.about[name].gives.validates
  const peers = others.filter((name) => !isPlain(name)).map((name) => [name, counterpartOf(measured.about[name])])
  const plain = others.filter(isPlain).map((name) => ['signalbox', name])
  return [
    `### ${mixes.safe.title}`,
    'µs per call: median of the rounds (quartiles)',
    timesTable(measured, names, 'safe', sizes),
    ...footnotes(measured, names, 'safe'),
    'Others over Signalbox: above 1, a call costs less with Signalbox. Each ratio is taken within a round, then the median',
    ratioTable(measured, peers, 'safe', sizes),
    'Signalbox over plain code, which keeps the same rules or fewer, and nothing else',
    ratioTable(measured, plain, 'safe', sizes),
  ].join('\n\n')
}

/** Those that keep unsafe calls apart. */
export function mixSection(measured, { sizes }, mix) {
  const pairs = [
    ['signalbox', 'counters'],
    ['signalbox', 'floor'],
  ]
  return [
    `### ${mixes[mix].title}`,
    'µs per call: median of the rounds (quartiles). The engines that are not listed do the same whatever the calls are',
    timesTable(measured, here(ruled, measured), mix, sizes),
    ratioTable(measured, pairs, mix, sizes),
  ].join('\n\n')
}

/** The executor with more to do, beside itself. */
export function extrasSection(measured, { sizes }) {
  const names = here(['signalbox', ...extras], measured)
  return [
    '### Hooks, rules and watchers',
    'µs per call, all calls safe: median of the rounds (quartiles)',
    timesTable(measured, names, 'safe', sizes),
    ...footnotes(measured, names, 'safe'),
    ratioTable(
      measured,
      here(extras, measured).map((name) => [name, 'signalbox']),
      'safe',
      sizes,
    ),
  ].join('\n\n')
}

/** What one call costs in a turn of 10,000, over what it costs in one of 100. */
export function growthSection(measured) {
  const rows = Object.keys(measured.about)
    .map((name) => [name, ...Object.keys(mixes).map((mix) => growthOf(measured, name, mix))])
    .filter(([, ...values]) => values.some((value) => value !== undefined))
    .map(([name, ...values]) => [title(measured, name), ...values.map((value) => value?.toFixed(2) ?? leftOut)])
  const heads = Object.values(mixes).map((mix) => mix.title.toLowerCase())
  return ['### Growth', 'µs per call at N=10,000 over N=100', table(['', ...heads], rows)].join('\n\n')
}

const title = ({ about }, name) => about[name].title

const share = (value) => (value === undefined ? leftOut : value < 10 ? value.toFixed(2) : figure(value))

function ratioTable(measured, pairs, mix, sizes) {
  const rows = pairs.map(([above, below]) => [
    `${title(measured, above)} / ${title(measured, below)}`,
    ...sizes.map((size) => share(ratioOf(measured, above, below, mix, size))),
  ])
  return table(['ratio', ...columns(sizes)], rows)
}

function timesTable(measured, names, mix, sizes) {
  const cell = (name, size) => {
    const found = cellOf(measured, name, mix, size)
    if (found?.median === undefined) return leftOut
    return found.isOnce ? `${figure(found.median)} (once)` : spread(found)
  }
  return table(
    ['engine', ...columns(sizes)],
    names.map((name) => [title(measured, name), ...sizes.map((size) => cell(name, size))]),
  )
}

/** Why a figure is not there, or stands on one turn. */
function footnotes(measured, names, mix) {
  const seconds = (ms) => `${figure(ms / 1_000)} s`
  const why = ({ size, median, tooSlow }) => {
    if (tooSlow === undefined) return `one turn, which took ${seconds((median * size) / 1_000)}.`
    if (tooSlow.size === size) return `not over after ${seconds(tooSlow.ms)}.`
    return `not tried, as a turn of ${count(tooSlow.size)} calls took ${seconds(tooSlow.ms)}.`
  }
  return measured.cells
    .filter((cell) => cell.mix === mix && names.includes(cell.engine) && (cell.tooSlow || cell.isOnce))
    .map((cell) => `${title(measured, cell.engine)}, N=${count(cell.size)}: ${why(cell)}`)
}
