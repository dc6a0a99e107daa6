const context = 3
const maxCells = 4_000_000

type Step = { readonly sign: ' ' | '-' | '+'; readonly text: string }

/** A unified diff of two texts; empty if they are equal. */
export function lineDiff(before: string, after: string, name: string): string {
  const steps = stepsBetween(linesOf(before), linesOf(after))
  const hunks = hunksOf(steps)
  return hunks.length === 0 ? '' : [`--- ${name}`, `+++ ${name}`, ...hunks].join('\n')
}

function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines.push('\\ No newline at end of file')
  return lines
}

/** Common lines at both ends are set aside to keep the comparison small. */
function stepsBetween(before: readonly string[], after: readonly string[]): Step[] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const same = (text: string): Step => ({ sign: ' ', text })
  return [
    ...before.slice(0, start).map(same),
    ...middleSteps(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ]
}

/** The longest common subsequence if it is affordable; else all old lines, then all new lines. */
function middleSteps(before: readonly string[], after: readonly string[]): Step[] {
  const width = after.length + 1
  if ((before.length + 1) * width > maxCells) {
    return [...before.map((text): Step => ({ sign: '-', text })), ...after.map((text): Step => ({ sign: '+', text }))]
  }
  const common = new Uint32Array((before.length + 1) * width)
  const at = (row: number, column: number): number => common[row * width + column] as number
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      common[row * width + column] =
        before[row] === after[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const steps: Step[] = []
  let row = 0
  let column = 0
  while (row < before.length || column < after.length) {
    if (row < before.length && column < after.length && before[row] === after[column]) {
      steps.push({ sign: ' ', text: before[row] as string })
      row++
      column++
    } else if (column === after.length || (row < before.length && at(row + 1, column) >= at(row, column + 1))) {
      steps.push({ sign: '-', text: before[row++] as string })
    } else steps.push({ sign: '+', text: after[column++] as string })
  }
  return steps
}

function hunksOf(steps: readonly Step[]): string[] {
  const changed = steps.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]))
  const out: string[] = []
  let from = 0
  let oldLine = 1
  let newLine = 1
  let walked = 0
  while (from < changed.length) {
    let to = from
    while (to + 1 < changed.length && (changed[to + 1] as number) - (changed[to] as number) <= 2 * context) to++
    const start = Math.max(0, (changed[from] as number) - context)
    const end = Math.min(steps.length, (changed[to] as number) + context + 1)
    for (; walked < start; walked++) {
      if (steps[walked]?.sign !== '+') oldLine++
      if (steps[walked]?.sign !== '-') newLine++
    }
    const hunk = steps.slice(start, end)
    const count = (left: '+' | '-') => hunk.filter(({ sign }) => sign !== left).length
    out.push(`@@ -${oldLine},${count('+')} +${newLine},${count('-')} @@`, ...hunk.map(({ sign, text }) => sign + text))
    from = to + 1
  }
  return out
}
