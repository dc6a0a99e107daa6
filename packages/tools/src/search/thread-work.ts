import type { ScriptPattern } from './dialect/to-javascript.ts'
import type { decodeText, readBytesNow } from './file-bytes.ts'
import type { FileMatch, Search } from './match.ts'
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

export interface ConfirmRequest {
  readonly found: readonly FileMatch[]
  readonly maxFileBytes: number
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

/**
 * Filters ripgrep's matches to files that really contain the lines. ripgrep works by path, and a folder may have been
 * replaced by a link in the meantime; so each file is opened again and checked to be at its path.
 * The source is sent to a worker thread, so it must not refer to anything outside itself.
 */
export function confirmBatch(
  { found, maxFileBytes }: ConfirmRequest,
  { fs, readBytesNow, decodeText }: ScanTools,
): boolean[] {
  return found.map(({ path, lines }) => {
    const bytes = readBytesNow(fs, path, maxFileBytes)
    const text = bytes === undefined ? undefined : decodeText(bytes)
    if (text === undefined) return false
    const there = text.split('\n')
    return lines.every(({ number, text: seen }) => there[number - 1] === seen)
  })
}
