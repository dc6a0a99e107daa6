import type { decodeText } from './decode-text.ts'
import type { ScriptPattern } from './dialect/to-javascript.ts'
import type { FileMatch, Search } from './match.ts'
import type { readBytesNow } from './read-bytes-now.ts'
import type { textScanner } from './scan-text.ts'

export interface ScanRequest {
  readonly search: Search
  readonly pattern: ScriptPattern
  readonly paths: readonly string[]
  /** The contents of the files, if the thread must not read them itself. */
  readonly texts?: readonly string[] | undefined
  readonly maxFileBytes: number
  readonly maxLineChars: number
  /** Maximum number of lines kept in total. */
  readonly maxLines: number
}

export interface ScanTools {
  readonly fs: typeof import('node:fs')
  readonly readBytesNow: typeof readBytesNow
  readonly decodeText: typeof decodeText
  readonly textScanner: typeof textScanner
  /** Sends a match at once: the thread may be terminated before it has searched all files. */
  readonly report: (match: FileMatch) => void
}

/**
 * Scans files in a worker thread; its source is sent there, so it must not refer to anything outside itself. Reports as
 * many matches as can be shown while it works, and returns the others.
 */
export function scanBatch(request: ScanRequest, tools: ScanTools): FileMatch[] {
  const { search, pattern, paths, texts, maxFileBytes, maxLineChars, maxLines } = request
  const { fs, readBytesNow, decodeText, textScanner, report } = tools
  const scan = textScanner(search, pattern, maxLineChars)
  const textOf = (path: string): string | undefined => {
    const bytes = readBytesNow(fs, path, maxFileBytes)
    return bytes === undefined ? undefined : decodeText(bytes)
  }
  const matches: FileMatch[] = []
  let kept = 0
  let reported = 0
  for (let index = 0; index < paths.length; index++) {
    const path = paths[index] as string
    const text = texts === undefined ? textOf(path) : texts[index]
    const found = text === undefined ? undefined : scan(text, maxLines - kept)
    if (found === undefined) continue
    kept += found.lines.length
    if (reported < maxLines) report({ path, ...found })
    else matches.push({ path, ...found })
    reported++
  }
  return matches
}
