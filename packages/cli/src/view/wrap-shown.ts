import { gutterOf, type ShownLine } from 'signalbox'
import stringWidth from 'string-width'
import type { Colors } from './colors.ts'

/** Wraps the lines of an input at a width. Continuation rows have a gutter of their own. */
export function wrapShown(lines: readonly ShownLine[], width: number, colors: Colors): string[] {
  return lines.flatMap((line) => {
    const gutter = gutterOf(line)
    const paint = painter(line, colors)
    const rows = brokenAt(line.text, Math.max(4, width - gutter.length - 2))
    return rows.map((row, index) =>
      index === 0 ? `${colors.dim(gutter)}${paint(row)}` : `${colors.dim(`${' '.repeat(line.indent)}┆ `)}${paint(row)}`,
    )
  })
}

function painter({ kind }: ShownLine, { bold, green, red, dim }: Colors): (text: string) => string {
  if (kind === 'added') return green
  if (kind === 'removed') return red
  return kind === 'field' ? bold : kind === 'same' ? dim : (text) => text
}

/** By columns only, so that no space is lost at a break. */
function brokenAt(text: string, width: number): string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const sign of text) {
    const wide = stringWidth(sign)
    if (used + wide > width && row !== '') {
      rows.push(row)
      row = ''
      used = 0
    }
    row += sign
    used += wide
  }
  return [...rows, row]
}
