import { count, leftOut, table, titleOf } from '../table.mjs'

export function memorySection(measured) {
  const { memory } = measured
  const sizes = [...new Set(memory.flatMap((row) => Object.keys(row.sizes)))].map(Number)
  const bytes = (value) => (value === undefined ? leftOut : count(value))
  const held = (row) => row.sizes[Math.max(...Object.keys(row.sizes).map(Number))]?.held
  const rows = memory.map((row) => [
    titleOf(measured, row.engine),
    ...sizes.map((size) => bytes(row.sizes[size]?.live)),
    bytes(held(row)),
    bytes(row.retained),
  ])
  const heads = sizes.map((size) => `in flight, N=${count(size)}`)
  return [
    '### Memory',
    'Bytes of heap per call: while every call of a turn is known and none is over; after the turn, with what ran it still held and its results let go; and left behind per call by many turns of 100 of which nothing is held',
    table(['', ...heads, 'held after', 'left behind'], rows),
  ].join('\n\n')
}
