import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The parts of inspector-app, and the folder below `dist` of each. */
const parts = {
  page: { config: 'vite.config.ts', folder: 'inspector-app' },
  embed: { config: 'embed.config.ts', folder: 'inspector-app/embed' },
  replay: { config: 'replay.config.ts', folder: 'inspector-app/replay' },
  playground: { config: 'playground.config.ts', folder: 'playground' },
}

/** Builds some or all parts of the app into a folder, by default the project's `dist`. */
export async function buildApp(names = Object.keys(parts), into = join(root, 'dist')) {
  for (const name of names) {
    const { config, folder } = parts[name]
    const configFile = resolve(root, 'inspector-app', config)
    await build({ configFile, logLevel: 'warn', build: { outDir: join(into, folder) } })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildApp()
