import { type CanUseTool, defineTool, query } from 'signalbox'
import { scriptedModel } from 'signalbox/scripted'
import { subAgent } from 'signalbox/sub-agent'
import { z } from 'zod'

const count = defineTool({
  name: 'Count',
  inputSchema: z.object({ word: z.string() }),
  isConcurrencySafe: () => true,
  call: async ({ word }) => ({ data: `${word} has ${word.length} letters` }),
})
const counter = subAgent({
  name: 'Counter',
  description: 'Counts letters.',
  tools: [count],
  model: scriptedModel([[{ call: 'Count', input: { word: 'signalbox' }, id: 'inner' }], 'Nine letters.']),
  onQuery: (inner, { description }) => {
    console.log(`an agent begins: ${description}`)
    return () => console.log(`it is over: ${inner.result?.reason}`)
  },
})
const model = scriptedModel([
  [{ call: 'Counter', input: { prompt: 'How long is "signalbox"?' }, id: 'outer' }],
  [{ call: 'Count', input: { word: 'nine' } }],
  'It has nine letters, and nine has four.',
])

// simulates a person who answers "always"
const canUseTool: CanUseTool = ({ name }) => {
  console.log(`asked for ${name}`)
  return { behavior: 'allow', addRules: { allow: [name] } }
}
const run = query({ messages: 'How long is it?', tools: [counter, count], model, canUseTool })
for await (const message of run) {
  if (message.type === 'progress') console.log(`${message.parentToolUseID}: something about ${message.toolUseID}`)
  else if (message.type === 'user') console.log(JSON.stringify(message.toolUseResult))
}
