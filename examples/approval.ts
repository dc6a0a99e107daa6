import { createServer } from 'node:http'
import { defineTool, query } from 'signalbox'
import { scriptedModel } from 'signalbox/scripted'
import { z } from 'zod'

const pay = defineTool({
  name: 'Pay',
  inputSchema: z.object({ amount: z.number() }),
  call: async ({ amount }) => ({ data: `paid ${amount}` }),
})
const model = scriptedModel([
  [
    { call: 'Pay', input: { amount: 5 } },
    { call: 'Pay', input: { amount: 5_000 } },
  ],
  'Done what I may.',
])
// never answers: the page does
const run = query({ messages: 'Pay my bills.', tools: [pay], model, canUseTool: () => new Promise(() => undefined) })

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(run.executor.openQuestions()))
    return
  }
  try {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { toolUseID, allow } = JSON.parse(String(Buffer.concat(chunks)))
    const answer = allow ? ({ behavior: 'allow' } as const) : ({ behavior: 'deny', message: 'Too much.' } as const)
    response.writeHead(run.executor.answer(toolUseID, answer) ? 204 : 409).end()
  } catch (error) {
    response.writeHead(400).end(String(error))
  }
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as { port: number }
const page = `http://127.0.0.1:${port}/`

// simulates a person at that page who allows small sums
const person = async () => {
  for (let answered = 0; answered < 2; ) {
    const questions = (await (await fetch(page)).json()) as { toolUseID: string; input: { amount: number } }[]
    for (const { toolUseID, input } of questions) {
      await fetch(page, { method: 'POST', body: JSON.stringify({ toolUseID, allow: input.amount < 100 }) })
      answered++
    }
  }
}
const visit = person()
for await (const message of run) {
  if (message.type === 'user') console.log(JSON.stringify(message.toolUseResult))
}
await visit
server.close()
