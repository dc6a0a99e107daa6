const maxLines = 20_000
const maxShown = 3

/** Places that resemble a text the model misremembered, one line each. */
export function nearMisses(text: string, wanted: string): string[] {
  const lines = text.split('\n', maxLines)
  const sought = wanted.split('\n')
  const trimmed = sought.map((line) => line.trim())
  const first = trimmed.findIndex((line) => line !== '')
  if (first < 0) return []
  const found = lines
    .map((line, index) => ({ index: index - first, score: likeness(line.trim(), trimmed[first] as string) }))
    .filter(({ score, index }) => score >= 0.6 && index >= 0)
    .map(({ index, score }) => ({ index, score: score + sameLines(lines, trimmed, index) }))
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, maxShown)
  return found.map(({ index }) => describe(lines.slice(index, index + sought.length), sought, index))
}

const sameLines = (lines: readonly string[], trimmed: readonly string[], at: number): number =>
  trimmed.filter((line, index) => lines[at + index]?.trim() === line).length

function describe(found: readonly string[], sought: readonly string[], at: number): string {
  const differs = sought.findIndex((line, index) => line !== found[index])
  const there = found[differs]
  const line = at + Math.max(differs, 0) + 1
  if (there === undefined) return `line ${at + 1}: the file ends before the whole text`
  const isSpace = there.trim() === sought[differs]?.trim()
  return `line ${line}${isSpace ? ' (only white space differs)' : ''}: ${JSON.stringify(there.slice(0, 200))}`
}

/** Similarity from 0 to 1, by the character pairs that two lines share. */
function likeness(one: string, other: string): number {
  if (one === other) return 1
  if (one.length < 2 || other.length < 2 || one.length > 2_000 || other.length > 2_000) return 0
  if (Math.min(one.length, other.length) * 3 < Math.max(one.length, other.length)) return 0
  const pairs = new Map<string, number>()
  for (let at = 0; at + 1 < one.length; at++) {
    const pair = one.slice(at, at + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  let shared = 0
  for (let at = 0; at + 1 < other.length; at++) {
    const left = pairs.get(other.slice(at, at + 2)) ?? 0
    if (left === 0) continue
    shared++
    pairs.set(other.slice(at, at + 2), left - 1)
  }
  return (2 * shared) / (one.length + other.length - 2)
}
