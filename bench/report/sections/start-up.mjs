import { leftOut, spread, table, titleOf } from '../table.mjs'

const packageTitles = {
  '../dist/src/index.js': 'signalbox alone',
  xstate: 'xstate alone, which signalbox imports',
  zod: 'zod alone, which hosts import for their schemas',
}

export function startUpSection(measured) {
  const rows = measured.startUp.map(({ kind, engine, imported, firstTurn }) => [
    kind === 'engine' ? titleOf(measured, engine) : packageTitles[engine],
    spread(imported),
    firstTurn === undefined ? leftOut : spread(firstTurn),
  ])
  return [
    '### Start-up',
    'Milliseconds in a fresh process: the import with everything it imports, then the first turn of one call',
    table(['', 'import', 'first turn'], rows),
  ].join('\n\n')
}
