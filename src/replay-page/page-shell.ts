import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SignalboxError } from '../errors/signalbox-error.ts'

/** Beside the built library, or, from the sources, where the build puts it. */
const places = ['../../inspector-app/', '../../dist/inspector-app/']

const page = 'replay/replay.html'
const slot = '<!-- recording -->'

export interface PageShell {
  readonly before: string
  readonly after: string
  /** The layout worker, as it is published. */
  readonly worker: Buffer
}

/** The built page, open where a recording belongs. */
export function pageShell(folder = findFolder()): PageShell {
  if (folder === undefined || !existsSync(join(folder, page))) {
    throw new SignalboxError('invalid_option', 'The app is not built yet: npm run build.')
  }
  const text = readFileSync(join(folder, page), 'utf8')
  const at = text.indexOf(slot)
  return {
    before: text.slice(0, at),
    after: text.slice(at + slot.length),
    worker: readFileSync(join(folder, 'elk/elk-worker.min.js')),
  }
}

function findFolder(): string | undefined {
  const folders = places.map((place) => fileURLToPath(new URL(place, import.meta.url)))
  return folders.find((folder) => existsSync(join(folder, page)))
}
