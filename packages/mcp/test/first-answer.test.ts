import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { put, runTool, scratch } from '../../tools/test/bench.ts'
import { connectMcp } from '../src/index.ts'

// a server that does what the text of a call says
const server = `
const say = (...messages) => process.stdout.write(messages.map((each) => JSON.stringify({ jsonrpc: '2.0', ...each }) + '\\n').join(''))
const text = (id, text) => ({ id, result: { content: [{ type: 'text', text }] } })
let rest = ''
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n')
  rest = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) continue
    if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } })
    else if (method === 'tools/list') say({ id, result: { tools: [{ name: 'do', inputSchema: { type: 'object' } }] } })
    else if (method !== 'tools/call') say({ id, error: { code: -32601, message: 'no' } })
    else if (params.arguments.what === 'twice') say(text(id, 'first'), text(id, 'second'))
    else process.exit(1)
  }
})`

it('the first answer counts, and a call without an answer may have run', async () => {
  const program = put(join(scratch(), 'server.cjs'), server)
  const mcp = await connectMcp({ servers: { odd: { command: process.execPath, args: [program] } } })
  onTestFinished(() => mcp.close())
  for (let round = 0; round < 5; round++) {
    expect((await runTool(mcp.tools(), 'mcp__odd__do', { what: 'twice' })).text).toBe('first')
  }
  const lost = await runTool(mcp.tools(), 'mcp__odd__do', { what: 'exit' })
  expect(lost).toMatchObject({
    isError: true,
    text: expect.stringContaining('The call may have run. Check its effects before you repeat it.'),
  })
})
