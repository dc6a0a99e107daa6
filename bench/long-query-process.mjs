import { allowAllTools, query } from '../dist/src/index.js'
import { createCalls, createTools } from './workload.mjs'

/** In a fresh process: processor time per turn of one long query, in its first tenth and in its last. */
const turns = Number(process.argv[2])
const resultText = 'line of a file\n'.repeat(200)
const tools = createTools(async () => ({ data: resultText }))
/** Processor time in ms when each request arrives. */
let asked = []

await runQuery()
// once more: much of the time of the first one goes into compiling
asked = []
await runQuery()
const tenth = Math.floor(turns / 10)
const early = (asked[tenth] - asked[0]) / tenth
const late = (asked[turns] - asked[turns - tenth]) / tenth
process.send({ early, late }, () => process.disconnect())

async function runQuery() {
  const run = query({ messages: 'go', tools, model: reply, canUseTool: allowAllTools })
  for await (const _ of run);
  if (run.result?.reason !== 'completed') throw new Error(`the query ended as ${run.result?.reason}`)
}

/** A model that ignores what it is sent. */
async function* reply() {
  const { user, system } = process.cpuUsage()
  const turn = asked.push((user + system) / 1_000)
  const isLast = turn > turns
  yield { type: 'message_start', message: { id: `msg_${turn}`, model: 'mock' } }
  for (const [index, { id, name, input }] of createCalls(isLast ? 0 : 3, 'safe').entries()) {
    yield {
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: `${id}_${turn}`, name, input: {} },
    }
    yield {
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    }
    yield { type: 'content_block_stop', index }
  }
  yield { type: 'message_delta', delta: { stop_reason: isLast ? 'end_turn' : 'tool_use' } }
  yield { type: 'message_stop' }
}
