import { copyFileSync, createReadStream, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Plugin } from 'vite'

const folder = dirname(createRequire(import.meta.url).resolve('elkjs/package.json'))
const worker = join(folder, 'lib/elk-worker.min.js')

/** The layout worker is shipped as it is, a file of its own with its licence beside it: EPL-2.0 wants it so. */
export const elkWorker = (): Plugin => ({
  name: 'elk-worker',
  writeBundle({ dir }) {
    const target = join(dir as string, 'elk')
    mkdirSync(target, { recursive: true })
    copyFileSync(worker, join(target, 'elk-worker.min.js'))
    copyFileSync(join(folder, 'LICENSE.md'), join(target, 'LICENSE.md'))
  },
  configureServer({ middlewares }) {
    middlewares.use(({ url = '' }, response, next) => {
      if (!url.split('?', 1)[0]?.endsWith('/elk/elk-worker.min.js')) return next()
      response.setHeader('Content-Type', 'text/javascript')
      createReadStream(worker).pipe(response)
    })
  },
})
