import sliceAnsi from 'slice-ansi'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/** Cuts a line to so many columns, and shows that it did. Colours take no room, wide characters take two. */
export function cut(line: string, width: number): string {
  if (stringWidth(line) <= width) return line
  if (width < 1) return ''
  const part = sliceAnsi(line, 0, width - 1)
  // a wide character that begins within the width may end behind it
  return `${stringWidth(part) < width ? part : sliceAnsi(line, 0, width - 2)}…`
}

/** Breaks a text into lines of at most so many columns, between words where it can. */
export const wrap = (text: string, width: number): string[] =>
  text.split('\n').flatMap((line) => {
    const [first = '', ...rest] = wrapAnsi(line, Math.max(1, width), { hard: true, trim: false }).split('\n')
    // the space at which a line was broken is not needed any more
    return [first, ...rest.map((part) => part.replace(/^ /, ''))]
  })
