import { cellOf, ratioOf } from './cells.mjs'
import { count, figure, leftOut, spread, table, titleOf } from './table.mjs'

const columns = (sizes) => sizes.map((size) => `N=${count(size)}`)

const share = (value) => (value === undefined ? leftOut : value < 10 ? value.toFixed(2) : figure(value))

/** The ratios of pairs, by size. */
export function ratioTable(measured, pairs, mix, sizes) {
  const rows = pairs.map(([above, below]) => [
    `${titleOf(measured, above)} / ${titleOf(measured, below)}`,
    ...sizes.map((size) => share(ratioOf(measured, above, below, mix, size))),
  ])
  return table(['ratio', ...columns(sizes)], rows)
}

/** The times of engines, by size. */
export function timesTable(measured, names, mix, sizes) {
  const cell = (name, size) => {
    const found = cellOf(measured, name, mix, size)
    if (found?.median === undefined) return leftOut
    return found.isOnce ? `${figure(found.median)} (once)` : spread(found)
  }
  return table(
    ['engine', ...columns(sizes)],
    names.map((name) => [titleOf(measured, name), ...sizes.map((size) => cell(name, size))]),
  )
}

/** Why a figure is missing or based on one turn. */
export function footnotes(measured, names, mix) {
  const seconds = (ms) => `${figure(ms / 1_000)} s`
  const why = ({ size, median, tooSlow }) => {
    if (tooSlow === undefined) return `one turn, which took ${seconds((median * size) / 1_000)}.`
    if (tooSlow.size === size) return `not over after ${seconds(tooSlow.ms)}.`
    return `not tried, as a turn of ${count(tooSlow.size)} calls took ${seconds(tooSlow.ms)}.`
  }
  return measured.cells
    .filter((cell) => cell.mix === mix && names.includes(cell.engine) && (cell.tooSlow || cell.isOnce))
    .map((cell) => `${titleOf(measured, cell.engine)}, N=${count(cell.size)}: ${why(cell)}`)
}
