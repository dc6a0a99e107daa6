import { copyFileSync, createReadStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

const folder = dirname(createRequire(import.meta.url).resolve('elkjs/package.json'))
const worker = join(folder, 'lib/elk-worker.min.js')

/** Ships the layout worker unmodified, as a separate file with its licence: EPL-2.0 requires it. */
export const elkWorker = (): Plugin => ({
  name: 'elk-worker',
  writeBundle({ dir }) {
    const target = join(dir as string, 'elk')
    mkdirSync(target, { recursive: true })
    copyFileSync(worker, join(target, 'elk-worker.min.js'))
    // a classic script, in a package of modules
    writeFileSync(join(target, 'package.json'), '{ "type": "commonjs" }\n')
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

export const elkNotice =
  '/*! elkjs, unmodified, zipped. EPL-2.0, see ../elk/LICENSE.md; sources: https://github.com/kieler/elkjs */'

const packedName = 'virtual:elk-worker-packed'

/** The same file, gzipped, as a module: a host's page has no known URL for it. */
export const packedElkWorker = (): Plugin => ({
  name: 'packed-elk-worker',
  resolveId: (id) => (id === packedName ? `\0${packedName}` : undefined),
  load: (id) => (id === `\0${packedName}` ? `export const packed = '${packed()}'` : undefined),
})

const packed = (): string => gzipSync(readFileSync(worker), { level: 9 }).toString('base64')
