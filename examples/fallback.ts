import { defineTool, type ModelRetryMessage, query } from 'signalbox'
import { scriptedModel } from 'signalbox/scripted'
import { z } from 'zod'

const note = defineTool({
  name: 'Note',
  inputSchema: z.object({ text: z.string() }),
  startWhen: 'closed', // start as soon as the block ends, although the stream may still fail
  call: async ({ text }) => ({ data: `noted ${text}` }),
})
const overloaded = Object.assign(new Error('Overloaded'), { status: 529 })
// fails in mid-stream, then at every retry
const model = scriptedModel([
  ['I note it down.', { call: 'Note', input: { text: 'milk' } }, { wait: 5 }, { error: overloaded }],
  [{ error: overloaded }],
])
const fallbackModel = scriptedModel(['Let me start again: all is noted.'])

const run = query({
  messages: 'Note: milk.',
  tools: [note],
  model,
  fallbackModel,
  retry: { attempts: 1, backoffMs: 1 },
  canUseTool: () => ({ behavior: 'allow' }),
})
for await (const message of run) {
  if (message.type !== 'system' || message.subtype !== 'model_retry') continue
  const { errorKind, isFallback, calls } = message as ModelRetryMessage
  console.log(errorKind, isFallback ? '→ the other model;' : '→ again;', 'had run:', JSON.stringify(calls))
}
console.log(JSON.stringify(run.transcript.map((message) => message.type)))
