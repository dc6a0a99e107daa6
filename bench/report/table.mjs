export const leftOut = '–'

// adding 0 turns -0 into 0
export const count = (value) => (Math.round(value) + 0).toLocaleString('en-US')

export const figure = (value) =>
  value === undefined ? leftOut : value < 10 ? value.toFixed(1) : value < 1_000 ? value.toFixed(0) : count(value)

export const titleOf = ({ about }, name) => about[name].title

/** The median with its quartiles. */
export const spread = ({ median, low, high }, show = figure) => `${show(median)} (${show(low)}–${show(high)})`

/** Markdown that is also readable in a terminal: the first column left-aligned, figures right-aligned. */
export function table(head, rows, leftColumns = 1) {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column].length)))
  const pad = (cell, column) => (column < leftColumns ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))
  const line = (row) => `| ${row.map(pad).join(' | ')} |`
  const rule = widths.map((width, column) => (column < leftColumns ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n')
}
