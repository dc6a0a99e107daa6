import { copyFileSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

const elkFolder = dirname(createRequire(import.meta.url).resolve('elkjs/package.json'))

/** The layout worker is shipped as it is, a file of its own with its licence beside it: EPL-2.0 wants it so. */
const elkWorker = (): Plugin => ({
  name: 'elk-worker',
  writeBundle({ dir }) {
    const folder = join(dir as string, 'elk')
    mkdirSync(folder, { recursive: true })
    copyFileSync(join(elkFolder, 'lib/elk-worker.min.js'), join(folder, 'elk-worker.min.js'))
    copyFileSync(join(elkFolder, 'LICENSE.md'), join(folder, 'LICENSE.md'))
  },
  configureServer(server) {
    server.middlewares.use('/elk/elk-worker.min.js', (_, response) => {
      response.setHeader('Content-Type', 'text/javascript')
      import('node:fs').then(({ createReadStream }) =>
        createReadStream(join(elkFolder, 'lib/elk-worker.min.js')).pipe(response),
      )
    })
  },
})

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [elkWorker()],
  server: { host: '127.0.0.1' },
  build: {
    outDir: resolve(import.meta.dirname, '../dist/inspector-app'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
})
