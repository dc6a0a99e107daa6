import { streamed } from '../engine-list.mjs'
import { summaryOf } from '../statistics.mjs'
import { inRounds } from './in-rounds.mjs'

/** The time from the end of a block to the start of its tool. */
export async function measureLatency(clients, { latency, rounds }, tell) {
  const rows = await inRounds(clients, streamed, Math.min(rounds, 3), (client) => client.ask('latency', latency))
  tell('time to start measured')
  return rows.map(({ engine, answers }) => ({
    engine,
    fromBlock: summaryOf(answers.map(({ fromBlock }) => fromBlock)),
    fromStream: summaryOf(answers.map(({ fromStream }) => fromStream)),
  }))
}
