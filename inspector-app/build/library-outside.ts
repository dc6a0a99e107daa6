import { dirname, relative, resolve } from 'node:path'
import type { Plugin } from 'vite'

const root = resolve(import.meta.dirname, '../..')

/**
 * What the page takes from the library stays an import of it. A copy inside would watch charts that are not the host's:
 * the recorder has to be the very one that belongs to the executors.
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
