import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SignalboxError } from '../../base/signalbox-error.ts'
import { builtPageWith } from '../built-page.ts'

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
