import { createServer, type IncomingMessage, type Server } from 'node:http'
import { defineTool, type Model, type PermissionAnswer } from 'signalbox'
import { type JournalStore, openSession } from 'signalbox/durable'
import { z } from 'zod'

const pay = defineTool({
  name: 'Pay',
  inputSchema: z.object({ invoice: z.string() }),
  call: async ({ invoice }) => ({ data: `paid ${invoice}` }),
})

/** A web app in which people approve payments. It keeps nothing in memory that a restart could lose. */
export async function approvalsApp(journals: JournalStore, model: Model): Promise<Server> {
  const session = await openSession({ id: 'invoices', journals, tools: [pay], model })
  // goes on with what an earlier process left: a run that ended waits for the next message
  if (session.status === 'suspended') session.resume()

  const routes: Record<string, (body: string) => unknown> = {
    'POST /messages': (text) => void session.send(text),
    'GET /messages': () => session.transcript.map(({ type, ...rest }) => ({ type, ...rest })),
    'GET /questions': () => session.questions().map(({ id, toolName, input }) => ({ id, toolName, input })),
    'POST /answers': async (body) => {
      const { id, answer, by }: { id: string; answer: PermissionAnswer; by: string } = JSON.parse(body)
      return { outcome: await session.answer(id, answer, { by }) }
    },
  }

  const server = createServer(async (request, response) => {
    const route = routes[`${request.method} ${request.url}`]
    response.statusCode = route === undefined ? 404 : 200
    const answer = await route?.(await textOf(request))
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer ?? null))
  })
  // a deploy: finish what takes less than five seconds, keep the rest
  server.on('close', () => void session.suspend({ graceMs: 5_000 }).then(() => session.close()))
  return server
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
