import { createServer } from 'vite'
import { LiveTurn } from '../dist/examples/live-turn/turn.js'
import { serveInspector } from '../dist/src/inspect-server/index.js'

// For work on the page: Vite serves it from its sources, and a scripted turn runs again and again.
const configFile = new URL('../inspector-app/vite.config.ts', import.meta.url).pathname
const vite = await createServer({ configFile })
await vite.listen()
const [page] = vite.resolvedUrls.local
const inspector = await serveInspector([], { commands: true, origins: [new URL(page).origin] })
const { hash, origin } = new URL(inspector.url)
console.log(`${page}${hash}&at=${origin}`)
for (let turns = 1; ; turns++) {
  const turn = new LiveTurn(() => undefined)
  const leave = inspector.add(turn.executor, { title: `turn ${turns}` })
  await turn.run()
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  leave()
}
