import { dirname, relative, resolve } from 'node:path'
import type { Plugin } from 'vite'

const root = resolve(import.meta.dirname, '../..')

/**
 * Keeps imports of the library external. A bundled copy would watch other charts than the host's: the recorder must come
 * from the same module instance as the executors.
 */
export const libraryOutside = (from: string): Plugin => ({
  name: 'library-outside',
  enforce: 'pre',
  resolveId(id, importer) {
    if (importer === undefined || !id.startsWith('.')) return undefined
    const path = relative(root, resolve(dirname(importer), id))
    if (!/^(src|machines)\//.test(path)) return undefined
    return { id: `${from}/${path.replace(/\.ts$/, '.js')}`, external: true }
  },
})
