import { streamed } from '../engine-list.mjs'
import { median } from '../statistics.mjs'
import { inRounds } from './in-rounds.mjs'

/** Turns in real time. */
export async function measureOverlap(clients, { overlap: { scenarios, rounds } }, tell) {
  const rows = []
  for (const scenario of scenarios) {
    const found = await inRounds(clients, streamed, rounds, (client) => client.ask('overlap', { scenario }))
    for (const { engine, answers } of found) {
      const { overlapped } = answers[0]
      const [first, end] = ['first', 'end'].map((moment) => median(answers.map((answer) => answer[moment])))
      rows.push({ engine, scenario, first, end, overlapped })
    }
    tell(`overlap measured: ${scenario}`)
  }
  return rows
}
