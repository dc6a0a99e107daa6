import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

// The playground from its sources. A browser is opened where there is a screen to open it on; `--open` insists.
const configFile = fileURLToPath(new URL('../inspector-app/playground.config.ts', import.meta.url))
const server = await createServer({ configFile })
await server.listen()
const [url] = server.resolvedUrls.local
console.log(`The playground is at ${url}\nCtrl+C ends it.`)
const { env, platform, stdout, argv } = process
const hasScreen = platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
if (argv.includes('--open') || (stdout.isTTY && !env.CI && hasScreen)) server.openBrowser()
