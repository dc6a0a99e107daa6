import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileError } from '../usage-error.ts'

/** Writes a file atomically, readable by this user only. */
export function writeWholeFile(path: string, text: string): void {
  const temporary = join(dirname(path), `.signalbox-${randomBytes(8).toString('hex')}.tmp`)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw fileError(path, error)
  }
}
