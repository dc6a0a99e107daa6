import sliceAnsi from 'slice-ansi'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/** Truncates a line to a number of columns, with an ellipsis. Colours take no column, wide characters two. */
export function cut(line: string, width: number): string {
  if (stringWidth(line) <= width) return line
  if (width < 1) return ''
  const part = sliceAnsi(line, 0, width - 1)
  // a wide character that begins within the width may end outside it
  return `${stringWidth(part) < width ? part : sliceAnsi(line, 0, width - 2)}…`
}

/** Wraps a text to a number of columns, between words if possible. */
export const wrap = (text: string, width: number): string[] =>
  text.split('\n').flatMap((line) => {
    const [first = '', ...rest] = wrapAnsi(line, Math.max(1, width), { hard: true, trim: false }).split('\n')
    // the space at a line break is dropped
    return [first, ...rest.map((part) => part.replace(/^ /, ''))]
  })
