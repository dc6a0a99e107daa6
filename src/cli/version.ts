import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Up from the sources, and up from the bundle. */
const file = ['../../package.json', '../package.json']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path))

export const version: string = file === undefined ? '0' : JSON.parse(readFileSync(file, 'utf8')).version
