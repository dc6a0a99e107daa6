import { createServer } from 'node:http'
import { createSession, defineTool, type SessionState, sessionResponse } from 'signalbox'
import { sendResponse } from 'signalbox/node'
import { scriptedModel } from 'signalbox/scripted'
import { z } from 'zod'

const pay = defineTool({
  name: 'Pay',
  inputSchema: z.object({ invoice: z.string() }),
  call: async ({ invoice }) => ({ data: `paid ${invoice}` }),
})
const model = scriptedModel([[{ call: 'Pay', input: { invoice: 'A-1' } }], 'Invoice A-1 is paid.'])
const session = createSession({ tools: [pay], model })

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    // when the browser leaves, this ends the reader of the session
    return sendResponse(sessionResponse(session, request), response)
  }
  try {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { text, question, answer } = JSON.parse(String(Buffer.concat(chunks)))
    if (text !== undefined) session.send(text)
    else await session.answer(question, answer)
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(400).end(String(error))
  }
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as { port: number }
const url = `http://127.0.0.1:${port}/`
const post = (body: object) => fetch(url, { method: 'POST', body: JSON.stringify(body) })

// simulates a page with an EventSource: shows messages, and approves what is asked
const page = await fetch(url)
await post({ text: 'Pay invoice A-1.' })
let received = ''
const answered = new Set<string>()
for await (const chunk of page.body ?? []) {
  received += Buffer.from(chunk)
  const parts = received.split('\n\n')
  received = parts.pop() ?? ''
  for (const part of parts) {
    const data = JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? 'null')
    if (part.includes('event: message') && data.message !== undefined) console.log(JSON.stringify(data.message.content))
    if (!part.includes('event: state')) continue
    const { status, questions } = data as SessionState
    for (const { id, toolName } of questions) {
      if (answered.has(id)) continue
      answered.add(id)
      console.log(`${toolName}: approved`)
      void post({ question: id, answer: { behavior: 'allow' } })
    }
    if (status === 'idle' && answered.size > 0) void session.close() // ends the stream
  }
}
server.close()
