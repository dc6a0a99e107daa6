import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectMcp } from '@signalbox/mcp'
import { query } from 'signalbox'
import { scriptedModel } from 'signalbox/scripted'

const root = await realpath(await mkdtemp(join(tmpdir(), 'signalbox-example-')))
await writeFile(join(root, 'trains.txt'), 'Berlin 09:12\nRome 10:40\n')

const mcp = await connectMcp({
  servers: {
    // npm install @modelcontextprotocol/server-filesystem
    files: { command: 'npx', args: ['mcp-server-filesystem', root] },
    // a server that cannot be reached only lacks its own tools
    docs: { command: '/usr/local/bin/no-such-server' },
  },
})
for (const { name, state, tools } of mcp.servers()) console.log(`${name}: ${state}, ${tools} tools`)

// replace with a real model; this one makes two safe calls, and one that the server marks as destructive
const path = join(root, 'trains.txt')
const model = scriptedModel([
  [
    { call: 'mcp__files__read_text_file', input: { path } },
    { call: 'mcp__files__list_directory', input: { path: root } },
    { call: 'mcp__files__write_file', input: { path, content: '' } },
  ],
  ['All done.'],
])

const run = query({
  messages: 'When does the train to Rome leave?',
  tools: mcp.tools(),
  model,
  context: { permissions: { allow: ['mcp__files'] } }, // all tools of that server
  canUseTool: async (_tool, _input, _context, _message, _id, question) => ({
    behavior: 'deny',
    message: `Nobody is here to allow it. ${question?.message}`,
  }),
})
for await (const message of run) {
  if (message.type !== 'user' || typeof message.message.content === 'string') continue
  for (const block of message.message.content) console.log(String(block.content))
}

await mcp.close()
await rm(root, { recursive: true })
