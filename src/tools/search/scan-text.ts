import type { FileMatch, FoundLine, Search } from './match.ts'

/** Looks through a text, and keeps so many lines of what it finds; undefined where that is nothing. */
export type ScanText = (text: string, maxLines: number) => Omit<FileMatch, 'path'> | undefined

/**
 * Looks for a pattern. It runs in a thread of its own, where its source is sent, since a pattern can be made so that it
 * never ends: so it may refer to nothing outside itself.
 */
export function textScanner(search: Search, maxLineChars: number): ScanText {
  const { pattern, ignoreCase, multiline, mode, before, after } = search
  const flags = `${ignoreCase ? 'i' : ''}${multiline ? 'gms' : ''}`
  let expression: RegExp
  try {
    expression = new RegExp(pattern, `${flags}u`)
  } catch {
    // without the stricter rules of Unicode mode
    expression = new RegExp(pattern, flags)
  }
  // a line ends before its carriage return, which can still be looked for
  const isMatch = (line: string): boolean =>
    expression.test(line) || (line.endsWith('\r') && expression.test(line.slice(0, -1)))
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
    // what matches after the last line break is in no line
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
      // the lines before the next match are its own
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
