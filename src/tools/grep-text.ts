import type { FileMatch, FoundMatches, Search } from './search/match.ts'

export interface GrepData {
  mode: Search['mode']
  /** What is shown of what was found, a line each. */
  lines: string[]
  totalLines: number
  totalFiles: number
  isCut: boolean
}

/** The lines to show of what was found, at most so many. */
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

/** What a model reads of a search. */
export function grepText({ lines, totalLines, isCut }: GrepData): string {
  if (totalLines === 0) return isCut ? 'No match in what could be looked at; there was too much of it.' : 'No match.'
  const shown = [...lines]
  if (totalLines > lines.length)
    shown.push(`(${lines.length} of ${totalLines} lines. Narrow the search to see others.)`)
  if (isCut) shown.push('(There is more than could be looked at. Narrow the search.)')
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
