import { reporting } from '../engine-list.mjs'
import { summaryOf } from '../statistics.mjs'
import { inRounds } from './in-rounds.mjs'

/** Reports per second. */
export async function measureProgress(clients, { progress, rounds }, tell) {
  const rows = await inRounds(clients, reporting, Math.min(rounds, 5), (client) => client.ask('progress', progress))
  tell('progress measured')
  return rows.map(({ engine, answers }) => ({ engine, ...summaryOf(answers) }))
}
