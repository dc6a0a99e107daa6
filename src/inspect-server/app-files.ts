import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/plain; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
}

/** Beside the built library, or, from the sources, where the build puts it. */
const places = ['../../inspector-app/', '../../dist/inspector-app/']

export interface AppFile {
  readonly type: string
  read(): Buffer
}

/** The built app by its paths. Only what was found in the folder can be asked for, so no path can lead out of it. */
export function appFiles(folder = findFolder()): ReadonlyMap<string, AppFile> {
  const files = new Map<string, AppFile>()
  if (folder === undefined) return files
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    const type = types[extname(name)]
    if (type === undefined || !statSync(path).isFile()) continue
    const file = { type, read: () => readFileSync(path) }
    files.set(`/${name.replaceAll('\\', '/')}`, file)
    if (name === 'index.html') files.set('/', file)
  }
  return files
}

function findFolder(): string | undefined {
  const folders = places.map((place) => fileURLToPath(new URL(place, import.meta.url)))
  return folders.find((folder) => existsSync(join(folder, 'assets')))
}
