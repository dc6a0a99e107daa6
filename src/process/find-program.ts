import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** Where a program is, looked for as the operating system does; undefined if it cannot be run. */
export function findProgram(file: string, path = '', cwd = '/'): string | undefined {
  const places = file.includes('/') ? [file] : path.split(':').map((folder) => `${folder || '.'}/${file}`)
  return places.map((place) => resolve(cwd, place)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
