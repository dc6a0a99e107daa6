import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

// Serves the playground from source. Opens a browser if there is a display, or always with `--open`.
const configFile = fileURLToPath(new URL('../inspector-app/playground.config.ts', import.meta.url))
const server = await createServer({ configFile })
await server.listen()
const [url] = server.resolvedUrls.local
console.log(`Playground: ${url}\nPress Ctrl+C to stop.`)
const { env, platform, stdout, argv } = process
const hasScreen = platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
if (argv.includes('--open') || (stdout.isTTY && !env.CI && hasScreen)) server.openBrowser()
