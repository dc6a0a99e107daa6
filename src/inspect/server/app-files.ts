import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { builtPageWith } from '../built-page.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/plain; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
}

export interface AppFile {
  readonly type: string
  read(): Buffer
}

/** The built app's files by path. Only files found in the folder are served, so no request path can leave it. */
export function appFiles(folder = builtPageWith('assets')): ReadonlyMap<string, AppFile> {
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
