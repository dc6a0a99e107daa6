import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect } from 'vitest'
import type { ModelRequest } from '../../../src/models/model.ts'
import { requestFlaws } from '../services/request-flaws.ts'
import { serviceFlaws } from '../services/service-flaws.ts'

type Entry =
  | Pick<ModelRequest, 'messages' | 'tools'>
  | { readonly path: string; readonly body: Record<string, unknown> }
  | { readonly problem: string }

const folder = mkdtempSync(join(tmpdir(), 'signalbox-requests-'))
const file = join(folder, 'requests.jsonl')
writeFileSync(file, '')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/**
 * The environment of a child process that runs the built library. What its queries ask their models is checked after each
 * test, like the requests of tests in this process.
 */
export const watchedChild: Readonly<Record<string, string>> = {
  NODE_OPTIONS: `--import=${new URL('record-requests.mjs', import.meta.url).href}`,
  SIGNALBOX_TEST_REQUESTS: file,
}

/** How many requests children have made in this file. */
export const seen = { requests: 0 }

export function flawsOfChildren(): string[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, '')
  // a child that was killed may leave half a line
  return lines.slice(0, -1).flatMap((line) => {
    const entry = JSON.parse(line) as Entry
    seen.requests++
    if ('problem' in entry) return [entry.problem]
    if ('path' in entry) return serviceFlaws(entry.path, entry.body)
    return entry.messages.length === 0 ? [] : requestFlaws(entry)
  })
}

afterEach(() => expect(flawsOfChildren()).toEqual([]))
