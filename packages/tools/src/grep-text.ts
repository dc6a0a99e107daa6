import type { StoppedBy } from './deadline.ts'
import type { FileMatch, FoundMatches, Search } from './search/match.ts'
import { stopNote } from './search/timed-search.ts'

export interface GrepData {
  mode: Search['mode']
  /** The matches as text, one line each. */
  lines: string[]
  totalLines: number
  totalFiles: number
  isCut: boolean
  /** Set if the search did not end by itself: there may be other matches. */
  stoppedBy?: StoppedBy | undefined
}

/** The lines to show, up to a limit. */
export function grepData(mode: Search['mode'], { matches, isCut }: FoundMatches, limit: number): GrepData {
  const lines: string[] = []
  let totalLines = 0
  for (const match of matches) {
    const own = linesIn[mode](match)
    totalLines += own.length + (match.linesLeftOut ?? 0)
    if (lines.length < limit) lines.push(...own.slice(0, limit - lines.length))
  }
  return { mode, lines, totalLines, totalFiles: matches.length, isCut }
}

/** The text that the model gets for a search. */
export function grepText({ lines, totalLines, isCut, stoppedBy }: GrepData): string {
  if (totalLines === 0 && stoppedBy !== undefined) return `${stopNote(stoppedBy)}\nNo matches so far.`
  if (totalLines === 0)
    return isCut
      ? 'No matches in the files that were searched, but the search stopped early because there were too many. Narrow the search.'
      : 'No matches.'
  // at the start, because a long result is truncated at its end
  const shown = [...(stoppedBy === undefined ? [] : [stopNote(stoppedBy)]), ...lines]
  if (totalLines > lines.length)
    shown.push(`(${lines.length} of ${totalLines} lines shown. Narrow the search to see the others.)`)
  if (isCut) shown.push('(The search stopped early because there were too many files. Narrow the search.)')
  return shown.join('\n')
}

const linesIn = {
  files: ({ path }) => [path],
  count: ({ path, count }) => [`${path}:${count}`],
  content: contentOf,
} satisfies { [Mode in Search['mode']]: (match: FileMatch) => string[] }

function contentOf({ path, lines }: FileMatch): string[] {
  const hasContext = lines.some(({ isMatch }) => !isMatch)
  const out: string[] = []
  let last: number | undefined
  for (const { number, text, isMatch } of lines) {
    if (hasContext && last !== undefined && number > last + 1) out.push('--')
    out.push(isMatch ? `${path}:${number}:${text}` : `${path}-${number}-${text}`)
    last = number
  }
  return out
}
