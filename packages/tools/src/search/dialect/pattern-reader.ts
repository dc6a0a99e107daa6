import { invalidPattern } from './pattern-error.ts'

/** Reads a pattern character by character, and decodes its escapes. */
export interface PatternReader {
  readonly isAtEnd: boolean
  /** The next character, without consuming it. */
  peek(ahead?: number): string
  next(): string
  /** Consumes this text if it comes next. */
  take(text: string): boolean
  /** Consumes everything up to and including this text; undefined if the text does not occur. */
  until(end: string): string | undefined
  rest(): string
  /** Under the flag `x`, white space and comments are ignored. */
  skipBlanks(): void
}

export function readPattern(pattern: string): PatternReader {
  const chars = [...pattern]
  let at = 0
  const reader: PatternReader = {
    get isAtEnd() {
      return at >= chars.length
    },
    peek: (ahead = 0) => chars[at + ahead] ?? '',
    next: () => chars[at++] ?? '',
    take(text) {
      if (
        !chars
          .slice(at, at + [...text].length)
          .join('')
          .startsWith(text)
      )
        return false
      at += [...text].length
      return true
    },
    until(end) {
      const found = chars.indexOf(end, at)
      if (found < 0) return undefined
      const text = chars.slice(at, found).join('')
      at = found + 1
      return text
    },
    rest: () => chars.slice(at).join(''),
    skipBlanks() {
      for (;;) {
        if (/\s/u.test(reader.peek()) && !reader.isAtEnd) at++
        else if (reader.peek() === '#') while (!reader.isAtEnd && reader.next() !== '\n');
        else return
      }
    },
  }
  return reader
}

const named: Record<string, string> = { a: '\x07', f: '\f', t: '\t', n: '\n', r: '\r', v: '\v' }
const digits: Record<string, number> = { x: 2, u: 4, U: 8 }

/** The character of an escape, after its backslash; undefined if the escape is not a single character. */
export function escapedChar(reader: PatternReader): string | undefined {
  const letter = reader.peek()
  if (letter === '') throw invalidPattern('it ends in a backslash.')
  if (/\d/.test(letter)) throw invalidPattern('back-references such as \\1 are not supported.')
  if (Object.hasOwn(named, letter)) return named[reader.next()]
  if (Object.hasOwn(digits, letter)) {
    reader.next()
    const braced = reader.take('{') ? reader.until('}') : undefined
    const count = digits[letter] as number
    const text = braced ?? Array.from({ length: count }, () => reader.next()).join('')
    const isWhole = braced !== undefined || text.length === count
    const code = isWhole && /^[0-9a-f]+$/i.test(text) ? Number.parseInt(text, 16) : Number.NaN
    if (Number.isNaN(code) || code > 0x10ffff) throw invalidPattern(`\\${letter}${text} is not a valid character.`)
    return String.fromCodePoint(code)
  }
  return /^[\x20-\x7e]$/.test(letter) && !/[a-z<>]/i.test(letter) ? reader.next() : undefined
}

/** A character as written in a JavaScript expression, inside or outside a class. */
export const literal = (char: string): string =>
  /^[a-z0-9]$/i.test(char) ? char : `\\u{${(char.codePointAt(0) as number).toString(16)}}`
