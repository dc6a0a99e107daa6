import { createServer } from 'vite'
import { allowAllTools, query } from '../dist/src/index.js'
import { serveInspector } from '../dist/src/inspect/server/index.js'
import { scriptedModel } from '../dist/src/query/scripted/index.js'
import { createTools } from '../packages/tools/dist/index.js'

// For developing the page: Vite serves it from source, and a scripted turn runs in a loop.
const configFile = new URL('../inspector-app/vite.config.ts', import.meta.url).pathname
const vite = await createServer({ configFile })
await vite.listen()
const [page] = vite.resolvedUrls.local
const inspector = await serveInspector([], { commands: true, origins: [new URL(page).origin] })
const { hash, origin } = new URL(inspector.url)
console.log(`${page}${hash}&at=${origin}`)
const { tools } = createTools({ root: process.cwd() })
const turn = [
  { call: 'Bash', input: { command: 'sleep 3' } },
  { call: 'Read', input: { file_path: 'README.md' } },
  { call: 'Grep', input: { pattern: 'inspector', glob: 'docs/*.md' } },
  { call: 'Bash', input: { command: 'for i in 1 2 3; do echo $i; sleep 1; done; exit 1' } },
  { call: 'Read', input: { file_path: 'package.json' } },
]
for (let turns = 1; ; turns++) {
  const run = query({ messages: 'Go on.', tools, model: scriptedModel([turn, 'Done.']), canUseTool: allowAllTools })
  const leave = inspector.add(run, { title: `query ${turns}, turn` })
  for await (const _ of run);
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  leave()
}
