import { constants, copyFileSync, existsSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { fileError, usageError } from '../usage-error.ts'
import type { TranscriptFile } from './read-transcript.ts'

/** Writes the repaired messages in the file's format. Keeps the previous file: nothing is overwritten. */
export function writeRepaired(
  path: string,
  { form }: TranscriptFile,
  messages: readonly unknown[],
  output: string | undefined,
): { written: string; backup?: string } {
  const text =
    form === 'array'
      ? `${JSON.stringify(messages, null, 2)}\n`
      : messages.map((message) => `${JSON.stringify(message)}\n`).join('')
  if (output !== undefined) {
    if (existsSync(output)) throw usageError(`${output} already exists. Choose another file, or delete it first.`)
    attempt(output, () => writeFileSync(output, text, { flag: 'wx' }))
    return { written: output }
  }
  const backup = freeName(path)
  attempt(backup, () => copyFileSync(path, backup, constants.COPYFILE_EXCL))
  const draft = `${path}.draft-${process.pid}`
  attempt(path, () => {
    writeFileSync(draft, text, { flag: 'wx', mode: statSync(path).mode })
    renameSync(draft, path)
  })
  return { written: path, backup }
}

function freeName(path: string): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? `${path}.bak` : `${path}.bak${count}`
    if (!existsSync(name)) return name
  }
}

function attempt(path: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw fileError(path, error)
  }
}
