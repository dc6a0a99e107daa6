import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file to which bodies in other processes append a line when they begin. */
export function effectsFile() {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-effects-'))
  const file = join(folder, 'effects.txt')
  writeFileSync(file, '')
  const lines = async (): Promise<string[]> => readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return { folder, file, lines, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
