import { count, table, titleOf } from '../table.mjs'

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
        ...names.map((engine) => [titleOf(measured, engine), ...scenarios.map((each) => shown(cell(engine, each)))]),
        ['won by starting early: query() / batch', ...won],
      ],
    ),
  ].join('\n\n')
}
