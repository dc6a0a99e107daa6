import type { ScriptPattern } from './dialect/to-javascript.ts'
import type { FileMatch, FoundLine, Search } from './match.ts'

/** Searches a text and keeps up to a number of lines; undefined if nothing matches. */
export type ScanText = (text: string, maxLines: number) => Omit<FileMatch, 'path'> | undefined

/**
 * Searches for a pattern. Runs in a worker thread, because a pattern can take for ever. The source is sent there, so
 * it must not refer to anything outside itself.
 */
export function textScanner(search: Search, pattern: ScriptPattern, maxLineChars: number): ScanText {
  const { multiline, mode, before, after } = search
  const expression = new RegExp(pattern.source, pattern.flags)
  const seesReturns = /\\r|\r/.test(search.pattern)
  // a line ends before its carriage return, unless the pattern matches it
  const isMatch = (line: string): boolean =>
    expression.test(!seesReturns && line.endsWith('\r') ? line.slice(0, -1) : line)
  const matchingLines = (lines: readonly string[]): number[] => {
    const found: number[] = []
    for (let line = 0; line < lines.length; line++) {
      if (!isMatch(lines[line] as string)) continue
      found.push(line)
      if (mode === 'files') break
    }
    return found
  }
  const spannedLines = (text: string, lines: readonly string[]): number[] => {
    const found: number[] = []
    let line = 0
    let from = 0
    // a match after the last line break belongs to no line
    const note = (): void => {
      if (line < lines.length && found[found.length - 1] !== line) found.push(line)
    }
    for (const match of text.matchAll(expression)) {
      const end = match.index + Math.max(0, match[0].length - 1)
      for (; from < match.index; from++) if (text[from] === '\n') line++
      note()
      for (; from < end; from++) {
        if (text[from] !== '\n') continue
        line++
        note()
      }
      if (mode === 'files' && found.length > 0) break
    }
    return found
  }
  return (text, maxLines) => {
    const lines = text.split('\n')
    if (lines[lines.length - 1] === '') lines.pop()
    const found = multiline ? spannedLines(text, lines) : matchingLines(lines)
    if (found.length === 0) return undefined
    const count = found.length
    if (mode !== 'content') return { count, lines: [] }
    const kept: FoundLine[] = []
    let linesLeftOut = 0
    let next = 0
    for (let at = 0; at < count; at++) {
      const own = found[at] as number
      // the lines before the next match are shown with that match
      const end = Math.min(own + after + 1, found[at + 1] ?? lines.length, lines.length)
      for (next = Math.max(next, own - before); next < end; next++) {
        if (kept.length >= maxLines) linesLeftOut++
        else {
          const shown = (lines[next] as string).replace(/\r$/, '').slice(0, maxLineChars)
          kept.push({ number: next + 1, text: shown, isMatch: next === own })
        }
      }
    }
    return { count, lines: kept, linesLeftOut }
  }
}
