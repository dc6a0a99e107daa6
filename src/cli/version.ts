import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Of the package that this file belongs to, wherever in it the build has put it. */
export const version: string = versionAbove(dirname(fileURLToPath(import.meta.url)))

function versionAbove(folder: string): string {
  const path = join(folder, 'package.json')
  const found = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
  if (found?.name === 'signalbox') return found.version
  return folder === dirname(folder) ? 'unknown' : versionAbove(dirname(folder))
}
