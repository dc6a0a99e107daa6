import { extras } from '../../engine-list.mjs'
import { footnotes, ratioTable, timesTable } from '../tables-of-times.mjs'

/** The executor with additional work, compared with the executor alone. */
export function extrasSection(measured, { sizes }) {
  const names = ['signalbox', ...extras]
  return [
    '### Hooks, rules and watchers',
    'µs per call, all calls safe: median of the rounds (quartiles). The executor alone has no hooks, no rules and no observer',
    timesTable(measured, names, 'safe', sizes),
    ...footnotes(measured, names, 'safe'),
    ratioTable(
      measured,
      extras.map((name) => [name, 'signalbox']),
      'safe',
      sizes,
    ),
  ].join('\n\n')
}
