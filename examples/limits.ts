import { allowAllTools, defineTool, query } from 'signalbox'
import { scriptedModel } from 'signalbox/scripted'
import { subAgent } from 'signalbox/sub-agent'
import { z } from 'zod'

const search = defineTool({
  name: 'Search',
  inputSchema: z.object({ words: z.string() }),
  isReadOnly: () => true,
  call: async ({ words }) => ({ data: `nothing about ${words}` }),
})
/** A model that always searches for something else. An adapter would set `info` from its own options. */
const searching = Object.assign(
  scriptedModel(
    Array.from({ length: 20 }, (_, n) => [
      { call: 'Search', input: { words: `idea ${n}` } },
      { stop: 'tool_use', usage: { input_tokens: 1_000, output_tokens: 200 } },
    ]),
  ),
  { info: { name: 'scripted', maxOutputTokens: 500 } },
)
const outer = Object.assign(scriptedModel([[{ call: 'Explore', input: { prompt: 'Find the bug.' } }], 'Found.']), {
  info: { name: 'scripted', maxOutputTokens: 500 },
})

const explore = subAgent({ name: 'Explore', tools: [search], model: searching })
const run = query({
  messages: 'Fix the failing test.',
  tools: [explore],
  model: outer,
  canUseTool: allowAllTools,
  limits: { turns: 50, costUsd: 0.06 },
  prices: { scripted: { input: 5, output: 25 } },
})
for await (const message of run) {
  if (message.type === 'system' && message.subtype === 'limit_warning') console.log(message.message)
}
const { result, usage } = run
if (result?.reason === 'limit') console.log(`stopped at ${result.limit}: ${result.used.toFixed(3)} of ${result.max}`)
console.log(`${usage.turns} turns, ${usage.calls} calls, ${usage.agents} agent, $${usage.costUsd?.toFixed(3)}`)
