import { leftOut, spread, table, titleOf } from '../table.mjs'

export function startUpSection(measured) {
  const rows = measured.startUp.map(({ kind, engine, imported, firstTurn }) => [
    kind === 'engine' ? titleOf(measured, engine) : `${engine} alone, which Signalbox imports`,
    spread(imported),
    firstTurn === undefined ? leftOut : spread(firstTurn),
  ])
  return [
    '### Start-up',
    'Milliseconds in a fresh process: the import with everything it imports, then the first turn of one call',
    table(['', 'import', 'first turn'], rows),
  ].join('\n\n')
}
