import { mixes } from '../../workload.mjs'
import { growthOf } from '../cells.mjs'
import { leftOut, table, titleOf } from '../table.mjs'

/** The cost per call in a turn of 10,000 divided by that in a turn of 100. */
export function growthSection(measured) {
  const rows = Object.keys(measured.about)
    .map((name) => [name, ...Object.keys(mixes).map((mix) => growthOf(measured, name, mix))])
    .filter(([, ...values]) => values.some((value) => value !== undefined))
    .map(([name, ...values]) => [titleOf(measured, name), ...values.map((value) => value?.toFixed(2) ?? leftOut)])
  const heads = Object.values(mixes).map((mix) => mix.title.toLowerCase())
  return ['### Growth', 'µs per call at N=10,000 over N=100', table(['', ...heads], rows)].join('\n\n')
}
