import type { FileMatch, FoundLine, Search } from './match.ts'

export interface ScanRequest {
  readonly search: Search
  readonly files: readonly { readonly path: string; readonly text: string }[]
  readonly maxLineChars: number
}

/**
 * What stands in some texts. It runs in a thread of its own, where its source is sent, since a pattern can be made so that
 * it never ends: so it may refer to nothing outside itself.
 */
export function scanTexts({ search, files, maxLineChars }: ScanRequest): FileMatch[] {
  const { pattern, ignoreCase, multiline, mode, before, after } = search
  const flags = `${ignoreCase ? 'i' : ''}${multiline ? 'gms' : ''}`
  let expression: RegExp
  try {
    expression = new RegExp(pattern, `${flags}u`)
  } catch {
    // without the stricter rules of Unicode mode
    expression = new RegExp(pattern, flags)
  }
  const matchingLines = (text: string, lines: readonly string[]): Set<number> => {
    const found = new Set<number>()
    if (!multiline) {
      for (let index = 0; index < lines.length; index++) {
        if (expression.test(lines[index] as string)) found.add(index)
        if (found.size > 0 && mode === 'files') break
      }
      return found
    }
    let line = 0
    let from = 0
    for (const match of text.matchAll(expression)) {
      const start = match.index
      const end = start + Math.max(0, match[0].length - 1)
      for (; from < start; from++) if (text[from] === '\n') line++
      found.add(line)
      for (; from < end; from++) {
        if (text[from] !== '\n') continue
        line++
        found.add(line)
      }
      if (mode === 'files') break
    }
    return found
  }
  const results: FileMatch[] = []
  for (const { path, text } of files) {
    const lines = text.split('\n')
    if (lines[lines.length - 1] === '') lines.pop()
    const found = matchingLines(text, lines)
    if (found.size === 0) continue
    const shown = new Set<number>()
    if (mode === 'content') {
      for (const index of found) {
        for (let near = Math.max(0, index - before); near <= Math.min(lines.length - 1, index + after); near++)
          shown.add(near)
      }
    }
    const foundLines: FoundLine[] = [...shown]
      .sort((one, other) => one - other)
      .map((index) => ({
        number: index + 1,
        text: (lines[index] as string).replace(/\r$/, '').slice(0, maxLineChars),
        isMatch: found.has(index),
      }))
    results.push({ path, count: found.size, lines: foundLines })
  }
  return results
}
