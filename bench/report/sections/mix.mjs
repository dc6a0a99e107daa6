import { ruled } from '../../engine-list.mjs'
import { mixes } from '../../workload.mjs'
import { ratioTable, timesTable } from '../tables-of-times.mjs'

/** The engines that run unsafe calls alone. */
export function mixSection(measured, { sizes }, mix) {
  const pairs = [
    ['signalbox', 'counters'],
    ['signalbox', 'floor'],
  ]
  return [
    `### ${mixes[mix].title}`,
    'µs per call: median of the rounds (quartiles). The engines that are not listed do the same whatever the calls are',
    timesTable(
      measured,
      ruled.filter((name) => measured.about[name]),
      mix,
      sizes,
    ),
    ratioTable(measured, pairs, mix, sizes),
  ].join('\n\n')
}
