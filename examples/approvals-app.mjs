import { createServer } from 'node:http'
import { defineTool } from 'signalbox'
import { openSession } from 'signalbox/durable'
import { fileJournals } from 'signalbox/node'
import { scriptedModel } from 'signalbox/scripted'
import { z } from 'zod'

const [port = '3000', folder = 'sessions'] = process.argv.slice(2)

const pay = defineTool({
  name: 'Pay',
  inputSchema: z.object({ invoice: z.string() }),
  call: async ({ invoice }) => ({ data: `paid ${invoice}` }),
})

/** Needs no key: asks for the payment, and reports its result. Use a real model in its place. */
const model = (request) => {
  const last = JSON.stringify(request.messages.at(-1))
  if (!last.includes('tool_result')) return scriptedModel([[{ call: 'Pay', input: { invoice: 'A-1' } }]])(request)
  return scriptedModel([last.includes('is_error') ? 'The invoice is not paid.' : 'The invoice is paid.'])(request)
}

const session = await openSession({ id: 'invoices', journals: fileJournals({ folder }), tools: [pay], model })
// continues what an earlier process left unfinished
if (session.status === 'suspended') session.resume()

const page = `<!doctype html>
<title>Approvals</title>
<form><input name="text" value="Pay invoice A-1." aria-label="Message"> <button>Send</button></form>
<ol id="messages"></ol>
<div id="questions"></div>
<script type="module">
  const get = async (path) => (await fetch(path)).json()
  const post = (path, body) => fetch(path, { method: 'POST', body })
  const add = (parent, tag, text) => Object.assign(parent.appendChild(document.createElement(tag)), { textContent: text })
  const [messages, questions] = ['messages', 'questions'].map((id) => document.getElementById(id))
  async function show() {
    const [said, open] = await Promise.all([get('/messages'), get('/questions')])
    messages.replaceChildren()
    questions.replaceChildren()
    for (const text of said) add(messages, 'li', text)
    for (const { id, toolName, input } of open) {
      const row = add(questions, 'p', toolName + ' ' + JSON.stringify(input) + ' ')
      const answer = (answer) => () => post('/answers', JSON.stringify({ id, answer, by: 'Ann' }))
      add(row, 'button', 'Approve').onclick = answer({ behavior: 'allow' })
      add(row, 'button', 'Deny').onclick = answer({ behavior: 'deny', message: 'Ann said no.' })
    }
  }
  document.forms[0].onsubmit = (event) => {
    event.preventDefault()
    post('/messages', event.target.text.value)
  }
  const events = new EventSource('/events')
  events.onopen = events.onmessage = show
</script>`

const routes = {
  'POST /messages': (text) => void session.send(text),
  'GET /messages': () => session.transcript.map(({ type, message }) => `${type}: ${JSON.stringify(message?.content)}`),
  'GET /questions': () => session.questions().map(({ id, toolName, input }) => ({ id, toolName, input })),
  'POST /answers': async (body) => {
    const { id, answer, by } = JSON.parse(body)
    return { outcome: await session.answer(id, answer, { by }) }
  },
}

/** Tells a page that it should look again. */
function follow(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')
  const look = () => response.write('data: changed\n\n')
  const leave = ['question_opened', 'question_closed', 'run_ended'].map((event) => session.on(event, look))
  response.on('close', () => {
    for (const stop of leave) stop()
  })
}

const server = createServer(async (request, response) => {
  if (request.url === '/') return response.setHeader('content-type', 'text/html').end(page)
  if (request.url === '/events') return follow(response)
  const route = routes[`${request.method} ${request.url}`]
  let body = ''
  for await (const chunk of request) body += chunk
  response.statusCode = route === undefined ? 404 : 200
  response.setHeader('content-type', 'application/json').end(JSON.stringify((await route?.(body)) ?? null))
})
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))

// a deploy: what takes less than five seconds finishes, the rest is kept
process.once('SIGTERM', async () => {
  await session.suspend({ graceMs: 5_000 })
  await session.close()
  process.exit()
})
