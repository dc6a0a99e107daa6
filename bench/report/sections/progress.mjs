import { count, spread, table, titleOf } from '../table.mjs'

export function progressSection(measured) {
  const rows = measured.progress.map(({ engine, ...rate }) => [
    engine === 'floor' ? 'an async generator alone' : titleOf(measured, engine),
    spread(rate, count),
  ])
  return [
    '### Progress',
    'Reports of one running tool that reach the host, per second',
    table(['', 'per second'], rows),
  ].join('\n\n')
}
