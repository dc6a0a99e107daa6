import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { tellsRequests } from '../../../scripts/tells-requests.mjs'
import type { ModelRequest } from '../../../src/models/model.ts'
import { requestFlaws } from '../services/request-flaws.ts'
import { serviceFlaws } from '../services/service-flaws.ts'

type Entry =
  | Pick<ModelRequest, 'messages' | 'tools'>
  | { readonly path: string; readonly body: Record<string, unknown> }
  | { readonly problem: string }

const file = join(tmpdir(), `signalbox-requests-${randomUUID()}.jsonl`)

/**
 * The environment of a child process that runs the library of `builtProject()`, or a program that was built with
 * `tellingRequests()`. What its queries ask their models is checked after each
 * test (`validated-requests.ts`), like the requests of tests in this process.
 */
export const watchedChild: Readonly<Record<string, string>> = {
  NODE_OPTIONS: `--import=${new URL('record-requests.mjs', import.meta.url).href}`,
  SIGNALBOX_TEST_REQUESTS: file,
}

/** The same for a child process that runs the library as an installed package. */
export const watchedPackage = { ...watchedChild, SIGNALBOX_TEST_PACKAGE: '1' }

/** A plugin of Vite for programs that contain the library. */
export const tellingRequests = (): Plugin => {
  let count = 0
  return {
    name: 'telling-requests',
    renderChunk(code) {
      const telling = tellsRequests(code)
      if (telling === undefined) return null
      count++
      return { code: telling }
    },
    generateBundle() {
      if (count !== 1) this.error(`the class ModelStream is in ${count} files of the program`)
    },
  }
}

/** How many requests children have made so far. */
export const seen = { requests: 0 }

export function flawsOfChildren(): string[] {
  if (!existsSync(file)) return []
  const taken = `${file}.taken`
  renameSync(file, taken)
  const lines = readFileSync(taken, 'utf8').split('\n')
  rmSync(taken)
  // a child that was killed may leave half a line
  return lines.slice(0, -1).flatMap((line) => {
    const entry = JSON.parse(line) as Entry
    seen.requests++
    if ('problem' in entry) return [entry.problem]
    if ('path' in entry) return serviceFlaws(entry.path, entry.body)
    return entry.messages.length === 0 ? [] : requestFlaws(entry)
  })
}
