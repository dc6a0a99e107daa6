import { counterpartOf, field, isRunner } from '../../engine-list.mjs'
import { mixes } from '../../workload.mjs'
import { footnotes, ratioTable, timesTable } from '../tables-of-times.mjs'

/** All engines, with safe calls only. */
export function fieldSection(measured, { sizes }) {
  const names = field.filter((name) => measured.about[name])
  const others = names.filter((name) => !name.startsWith('signalbox'))
  const isPlain = (name) => !measured.about[name].gives.validates
  const peers = others.filter((name) => !isPlain(name)).map((name) => [name, counterpartOf(measured.about[name])])
  const runners = names.filter(isRunner).map((name) => [name, 'signalbox'])
  const plain = others.filter(isPlain).map((name) => [counterpartOf(measured.about[name]), name])
  return [
    `### ${mixes.safe.title}`,
    'µs per call: median of the rounds (quartiles)',
    timesTable(measured, names, 'safe', sizes),
    ...footnotes(measured, names, 'safe'),
    'Others over Signalbox: above 1, a call costs less with Signalbox. Each ratio is taken within a round, then the median',
    ratioTable(measured, peers, 'safe', sizes),
    'Anthropic’s runner, with the request and the reply that it reads, over the executor alone, which reads nothing',
    ratioTable(measured, runners, 'safe', sizes),
    'Signalbox over plain code, which keeps the same rules or fewer, and nothing else',
    ratioTable(measured, plain, 'safe', sizes),
  ].join('\n\n')
}
