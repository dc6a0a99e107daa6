import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Beside the built library, or in `dist` when run from the sources. */
const places = ['inspector-app', 'dist/inspector-app']
/** How many folders above a built or source file the page can be. */
const levels = 4

/** The folder of the built page that contains this file or folder. */
export function builtPageWith(name: string): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url))
  for (let level = 0; level < levels; level++, folder = dirname(folder)) {
    const found = places.map((place) => join(folder, place)).find((place) => existsSync(join(place, name)))
    if (found !== undefined) return found
  }
  return undefined
}
