import { count, spread, table } from '../table.mjs'

const twoPlaces = (value) => value.toFixed(2)

export function longQuerySection({ longQuery: { turns, early, late, ratio } }) {
  const row = ['Signalbox query()', ...[early, late, ratio].map((figures) => spread(figures, twoPlaces))]
  return [
    '### Long query',
    `Milliseconds of processor time per turn in one query of ${count(turns)} turns, three calls each`,
    table(['', 'first tenth', 'last tenth', 'last over first'], [row]),
  ].join('\n\n')
}
