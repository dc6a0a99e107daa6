import { allowAllTools, query } from 'signalbox'
import { localRunner } from 'signalbox/node'
import { remote } from 'signalbox/remote'
import { scriptedModel } from 'signalbox/scripted'
import { primes, unstable } from './remote-tools.mjs'

const runner = localRunner({ tools: new URL('./remote-tools.mjs', import.meta.url) })
const run = query({
  messages: 'How many primes are there below 5000?',
  tools: [remote(primes, runner), remote(unstable, runner)],
  canUseTool: allowAllTools,
  // in place of a language model
  model: scriptedModel([[{ call: 'Primes', input: { below: 5_000 } }, { call: 'Unstable' }], 'There are 669.']),
})

for await (const message of run) {
  if (message.type !== 'user' || typeof message.message.content === 'string') continue
  for (const block of message.message.content) if (block.type === 'tool_result') console.log(block.content)
}
await runner.end()
