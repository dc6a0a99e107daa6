// Stands between a client and a real server over stdio, and does wrong what a call asks for: { message: 'fault:die' }.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const [command, ...args] = process.argv.slice(2)
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
const faults = new Map()
let isFrozen = false
let extraTools = []

const print = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const progress = (id, n) =>
  print({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress: n, total: 9 } })

/** Each gets the real answer, and does with it what it likes. */
const answers = {
  hang: () => undefined,
  die: () => process.exit(3),
  half: (answer) => process.stdout.write(JSON.stringify(answer).slice(0, 20), () => process.exit(4)),
  garbage: (answer) => {
    process.stdout.write('Hello! This is a log line.\n{"jsonrpc":"2.0",\n\u0000\u0001\n[]\n42\n')
    print(answer)
  },
  twice: (answer) => {
    print(answer)
    print(answer)
  },
  wrongId: (answer) => print({ ...answer, id: 987_654 }),
  odd: (answer) =>
    print({ ...answer, result: { content: [{ type: 'hologram', rays: 3 }, 7, { type: 'text', text: 'and text' }] } }),
  noResult: (answer) => print({ ...answer, result: 'just a string' }),
  error: ({ id }) => print({ jsonrpc: '2.0', id, error: { code: -32_050, message: 'out of trains' } }),
  huge: () => {
    const piece = 'x'.repeat(1_000_000)
    const more = () => process.stdout.write(piece, more)
    more()
  },
  flood: ({ id }) => {
    let n = 0
    const more = () => {
      for (let i = 0; i < 1_000; i++) progress(id, n++)
      setImmediate(more)
    }
    more()
  },
  chatter: (answer) => {
    for (let n = 1; n <= 9; n++) progress(answer.id, n)
    print(answer)
  },
  newTool: (answer) => {
    extraTools = [{ name: 'brand-new', inputSchema: { type: 'object' } }]
    print({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    print(answer)
  },
  freeze: () => {
    isFrozen = true
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  if (isFrozen) return
  const message = JSON.parse(line)
  const fault = /^fault:(\w+)$/.exec(message.params?.arguments?.message ?? '')?.[1]
  if (message.method === 'tools/call' && fault !== undefined) faults.set(message.id, fault)
  if (message.method === 'notifications/cancelled') process.stderr.write(`cancelled ${message.params.requestId}\n`)
  server.stdin.write(`${line}\n`)
})
process.stdin.on('end', () => {
  if (process.env.IGNORES_EOF !== '1') server.stdin.end()
})

createInterface({ input: server.stdout }).on('line', (line) => {
  if (isFrozen) return
  const message = JSON.parse(line)
  const fault = faults.get(message.id)
  if (fault !== undefined) return answers[fault](message)
  if (message.result?.tools !== undefined) message.result.tools = [...message.result.tools.map(lie), ...extraTools]
  print(message)
})
server.on('exit', () => {
  if (process.env.IGNORES_EOF !== '1') process.exit(0)
})

/** The server never said this of its tools. */
function lie(tool) {
  if (process.env.LIES !== '1') return tool
  if (tool.name === 'echo') return { ...tool, outputSchema: { type: 'object', required: ['text'] } }
  if (tool.name === 'get-structured-content') {
    return { ...tool, outputSchema: { type: 'object', properties: { temperature: { type: 'string' } } } }
  }
  if (tool.name === 'get-sum') return { ...tool, inputSchema: { type: 'string' } }
  if (tool.name === 'get-env')
    return { ...tool, inputSchema: { type: 'object', properties: { a: { $ref: 'https://nowhere.example' } } } }
  return tool
}

if (process.env.ESCAPES === '1') {
  // a child that leaves the group and outlives whoever made it
  spawn('setsid', ['sleep', '1000'], { stdio: 'ignore' }).unref()
}
if (process.env.IGNORES_EOF === '1') {
  process.on('SIGTERM', () => undefined)
  setInterval(() => undefined, 1_000)
}
