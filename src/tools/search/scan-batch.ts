import type { FileMatch, Search } from './match.ts'
import type { readTextNow } from './read-text-now.ts'
import type { textScanner } from './scan-text.ts'

export interface ScanRequest {
  readonly search: Search
  readonly paths: readonly string[]
  /** What stands in those files, where the thread shall not read them itself. */
  readonly texts?: readonly string[] | undefined
  readonly maxFileBytes: number
  readonly maxLineChars: number
  /** How many lines are kept of all that is found. */
  readonly maxLines: number
}

export interface ScanTools {
  readonly fs: typeof import('node:fs')
  readonly readTextNow: typeof readTextNow
  readonly textScanner: typeof textScanner
}

/** What stands in some files, in the thread that looks through them: it too may refer to nothing outside itself. */
export function scanBatch(request: ScanRequest, { fs, readTextNow, textScanner }: ScanTools): FileMatch[] {
  const { search, paths, texts, maxFileBytes, maxLineChars, maxLines } = request
  const scan = textScanner(search, maxLineChars)
  // a folder on the way may have become a link: then it was something else that was read
  const isInPlace = (path: string): boolean => {
    try {
      return fs.realpathSync.native(path) === path
    } catch {
      return false
    }
  }
  const matches: FileMatch[] = []
  let kept = 0
  for (let index = 0; index < paths.length; index++) {
    const path = paths[index] as string
    const text = texts === undefined ? readTextNow(fs, path, maxFileBytes) : texts[index]
    const found = text === undefined ? undefined : scan(text, maxLines - kept)
    if (found === undefined || (texts === undefined && !isInPlace(path))) continue
    kept += found.lines.length
    matches.push({ path, ...found })
  }
  return matches
}
