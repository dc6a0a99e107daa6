import { defineTool } from 'signalbox'
import { exploreQuery, type QueryInvariant, queryInvariants } from 'signalbox/testing'
import { z } from 'zod'

const read = defineTool({
  name: 'Read',
  inputSchema: z.object({}),
  isConcurrencySafe: () => true,
  call: async () => ({ data: '' }),
})
const calm = { failure: false, modelTrouble: false, modelError: false, steer: false, interrupt: false, abort: false }
const setup = { tools: [read], replies: [['Let me see.', { call: 'Read' }], 'It says hello.'] }

const explored = await exploreQuery({ ...setup, happenings: { ...calm, abort: true, time: false } })
console.log(explored.breach?.text ?? `${explored.states} states, no breach found`)

// an invariant that does not hold: after an error, the model is asked again
const askedOnce: QueryInvariant = {
  name: 'each reply is requested once',
  check: ({ requests, turns }) =>
    requests.length > 1 && turns[0]?.calls.length === 0 ? `${requests.length} requests` : undefined,
}
const wish = { ...setup, happenings: { ...calm, modelTrouble: true }, invariants: [...queryInvariants, askedOnce] }
console.log((await exploreQuery(wish)).breach?.text)
