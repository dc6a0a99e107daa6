import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SignalboxError } from '../base/signalbox-error.ts'

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

const page = 'replay/replay.html'
const slot = '<!-- recording -->'

export interface PageShell {
  readonly before: string
  readonly after: string
  /** The layout worker, as it is published. */
  readonly worker: Buffer
}

/** The built page, split where the recording is inserted. */
export function pageShell(folder = builtPageWith(page)): PageShell {
  if (folder === undefined || !existsSync(join(folder, page))) {
    throw new SignalboxError('invalid_option', 'The inspector app is not built. Run: npm run build.')
  }
  const text = readFileSync(join(folder, page), 'utf8')
  const at = text.indexOf(slot)
  return {
    before: text.slice(0, at),
    after: text.slice(at + slot.length),
    worker: readFileSync(join(folder, 'elk/elk-worker.min.js')),
  }
}
