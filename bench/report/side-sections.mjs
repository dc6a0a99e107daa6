import { count, figure, leftOut, spread, table } from './table.mjs'

const title = ({ about }, name) => about[name].title

export function memorySection(measured) {
  const { memory } = measured
  const sizes = [...new Set(memory.flatMap((row) => Object.keys(row.sizes)))].map(Number)
  const bytes = (value) => (value === undefined ? leftOut : count(value))
  const held = (row) => row.sizes[Math.max(...Object.keys(row.sizes).map(Number))]?.held
  const rows = memory.map((row) => [
    title(measured, row.engine),
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

export function latencySection(measured) {
  const rows = measured.latency.map(({ engine, fromBlock, fromStream }) =>
    measured.about[engine].gives.startsEarly
      ? [title(measured, engine), spread(fromBlock), leftOut]
      : [title(measured, engine), 'waits', spread(fromStream)],
  )
  return [
    "### From a block's end to its tool's start",
    'µs from the end of a call’s block in the stream to the entry of its tool; where the engine waits for the whole reply, from the end of the stream',
    table(['', "from the block's end", "from the stream's end"], rows),
  ].join('\n\n')
}

export function overlapSection(measured) {
  const { overlap } = measured
  const scenarios = [...new Set(overlap.map(({ scenario }) => scenario))]
  const names = [...new Set(overlap.map(({ engine }) => engine))]
  const cell = (engine, scenario) => overlap.find((each) => each.engine === engine && each.scenario === scenario)
  const won = scenarios.map((scenario) => {
    const [early, late] = ['signalbox-query', 'signalbox-batch'].map((engine) => cell(engine, scenario))
    return `${count(late.first - early.first)} / ${count(late.end - early.end)}`
  })
  const shown = ({ first, end, overlapped }) => `${count(first)} / ${count(end)}${overlapped ? ' (side by side!)' : ''}`
  return [
    '### Overlap',
    'Five calls whose blocks end at 50, 100 … 250 ms of a stream; each takes 100 ms, the slow one 300. Milliseconds until the first result is in hand, and until all are',
    table(
      ['', ...scenarios],
      [
        ...names.map((engine) => [title(measured, engine), ...scenarios.map((each) => shown(cell(engine, each)))]),
        ['won by starting early: query() / batch', ...won],
      ],
    ),
  ].join('\n\n')
}

export function progressSection(measured) {
  const rows = measured.progress.map(({ engine, ...rate }) => [
    engine === 'floor' ? 'an async generator alone' : title(measured, engine),
    spread(rate, count),
  ])
  return [
    '### Progress',
    'Reports of one running tool that reach the host, per second',
    table(['', 'per second'], rows),
  ].join('\n\n')
}

export function startUpSection(measured) {
  const rows = measured.startUp.map(({ kind, engine, imported, firstTurn }) => [
    kind === 'engine' ? title(measured, engine) : `${engine} alone, which Signalbox imports`,
    spread(imported),
    firstTurn === undefined ? leftOut : spread(firstTurn),
  ])
  return [
    '### Start-up',
    'Milliseconds in a fresh process: the import with everything it imports, then the first turn of one call',
    table(['', 'import', 'first turn'], rows),
  ].join('\n\n')
}

export function bundleSection({ bundles }) {
  const kilobytes = ({ minified, gzip }) => `${figure(gzip / 1_000)} (${figure(minified / 1_000)})`
  const rows = bundles.map(({ title: name, outside, inside }) => [name, kilobytes(outside), kilobytes(inside)])
  return [
    '### Bundle',
    'KB after minifying and gzip (before gzip)',
    table(['', 'xstate and zod outside', 'inside'], rows),
  ].join('\n\n')
}
