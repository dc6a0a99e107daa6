import { createSession, defineTool } from 'signalbox'
import { scriptedModel } from 'signalbox/scripted'
import { z } from 'zod'

const pay = defineTool({
  name: 'Pay',
  inputSchema: z.object({ invoice: z.string() }),
  call: async ({ invoice }) => ({ data: `paid ${invoice}` }),
})
const model = scriptedModel([
  [{ call: 'Pay', input: { invoice: 'A-1' } }],
  'Invoice A-1 is paid.',
  'You asked me to pay the open invoices.',
])

const session = createSession({ tools: [pay], model, canUseTool: () => ({ behavior: 'allow' }) })
for (const prompt of ['Pay the open invoices.', 'What did I ask for?']) {
  for await (const message of session.send(prompt)) {
    if (message.type === 'assistant' || message.type === 'user') console.log(JSON.stringify(message.message.content))
  }
}
console.log(session.status, session.transcript.length, session.usage.calls)
await session.close()
