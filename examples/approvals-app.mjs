import { createServer } from 'node:http'
import { defineTool, sessionResponse } from 'signalbox'
import { openSession } from 'signalbox/durable'
import { fileJournals, sendResponse } from 'signalbox/node'
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
  const post = (path, body) => fetch(path, { method: 'POST', body: JSON.stringify(body) })
  const add = (parent, tag, text) => Object.assign(parent.appendChild(document.createElement(tag)), { textContent: text })
  const [messages, questions] = ['messages', 'questions'].map((id) => document.getElementById(id))
  const items = new Map()
  function show({ type, uuid, message, discarded = [] }) {
    for (const each of discarded) items.get(each)?.remove()
    if (type !== 'user' && type !== 'assistant') return
    // a message may come again
    if (!items.has(uuid)) items.set(uuid, add(messages, 'li'))
    items.get(uuid).textContent = type + ': ' + JSON.stringify(message.content)
  }
  function ask({ id, toolName, input, rule }) {
    const row = add(questions, 'p', toolName + ' ' + JSON.stringify(input) + ' ')
    const button = (name, answer) => {
      add(row, 'button', name).onclick = () => post('/answers', { id, answer, by: 'Ann' })
    }
    button('Approve', { behavior: 'allow' })
    if (rule) button('Always allow ' + rule, { behavior: 'allow', addRules: { allow: [rule] } })
    button('Deny', { behavior: 'deny', message: 'Ann said no.' })
  }
  document.forms[0].onsubmit = (event) => {
    event.preventDefault()
    post('/messages', { text: event.target.text.value })
  }
  const events = new EventSource('/events')
  events.addEventListener('message', ({ data }) => show(JSON.parse(data)))
  events.addEventListener('state', ({ data }) => {
    questions.replaceChildren()
    JSON.parse(data).questions.forEach(ask)
  })
  events.addEventListener('reset', () => {
    messages.replaceChildren()
    items.clear()
  })
</script>`

async function respond(request, response) {
  const route = `${request.method} ${request.url}`
  if (route === 'GET /') return response.setHeader('content-type', 'text/html').end(page)
  if (route === 'GET /events') return sendResponse(sessionResponse(session, request), response)
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  response.statusCode = 204
  if (route === 'POST /messages') session.send(JSON.parse(body).text)
  else if (route === 'POST /answers') {
    const { id, answer, by } = JSON.parse(body)
    if ((await session.answer(id, answer, { by })) === 'stale') response.statusCode = 409
  } else response.statusCode = 404
  response.end()
}

const server = createServer((request, response) => {
  respond(request, response).catch(({ message }) => {
    // such as a request that cannot be read
    if (response.headersSent) response.destroy()
    else response.writeHead(400).end(message)
  })
})
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))

// a deploy: what takes less than five seconds finishes, the rest is kept
process.once('SIGTERM', async () => {
  await session.suspend({ graceMs: 5_000 })
  await session.close()
  process.exit()
})
