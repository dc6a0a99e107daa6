import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Places } from '../settings/places.ts'
import { usageError } from '../usage-error.ts'
import { TranscriptFile } from './transcript-file.ts'

/** The folder with the conversations of one project, for `--continue`. */
function folderFor({ sessions }: Places, root: string): string {
  const path = realpathSync(root)
  const id = createHash('sha256').update(path).digest('hex').slice(0, 12)
  return join(sessions, `${basename(path).replace(/[^\w.-]/g, '_') || 'root'}-${id}`)
}

/** A file for a new conversation; undefined if it cannot be created, which does not fail the run. */
export function newSessionFile(places: Places, root: string): TranscriptFile | undefined {
  try {
    const folder = folderFor(places, root)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const time = new Date().toISOString().replace(/[:.]/g, '-')
    return new TranscriptFile(join(folder, `${time}-${process.pid}.jsonl`))
  } catch {
    return undefined
  }
}

/** The last conversation of this project. */
export function lastSessionFile(places: Places, root: string): string {
  const folder = folderFor(places, root)
  let names: string[] = []
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  } catch {
    // reported below
  }
  const last = names.sort().at(-1)
  if (last !== undefined) return join(folder, last)
  throw usageError(
    `--continue: no earlier session for ${root}. Run a prompt there first, or pass a transcript with --resume.`,
  )
}
