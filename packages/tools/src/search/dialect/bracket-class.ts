import { invalidPattern } from './pattern-error.ts'
import { escapedChar, literal, type PatternReader } from './pattern-reader.ts'
import { perlClass, posixClass, unicodeProperty, without } from './unicode-class.ts'

/** Parses a bracket class after its opening bracket: nested classes, and `&&`, `--` and `~~` between them. */
export function bracketClass(reader: PatternReader, ignoresBlanks: boolean): string {
  const skip = (): void => {
    if (ignoresBlanks) reader.skipBlanks()
  }
  skip()
  const isNegated = reader.take('^')
  skip()
  let items: string[] = []
  let left: string | undefined
  let operator = ''
  const finish = (): string => {
    const right = `[${items.join('')}]`
    items = []
    return left === undefined ? right : combine[operator as keyof typeof combine](left, right)
  }
  // leading brackets and dashes are literal
  if (reader.take(']')) items.push(literal(']'))
  for (skip(); reader.take('-'); skip()) items.push(literal('-'))
  for (;;) {
    skip()
    if (reader.isAtEnd) throw invalidPattern('a character class is not closed.')
    if (reader.take(']')) return isNegated ? without(finish()) : finish()
    const sign = Object.keys(combine).find((each) => reader.take(each))
    if (sign !== undefined) {
      left = finish()
      operator = sign
    } else items.push(item(reader, ignoresBlanks))
  }
}

const combine = {
  '&&': (left: string, right: string) => `[${left}&&${right}]`,
  '--': (left: string, right: string) => `[${left}--${right}]`,
  '~~': (left: string, right: string) => `[[${left}--${right}][${right}--${left}]]`,
}

function item(reader: PatternReader, ignoresBlanks: boolean): string {
  if (reader.peek() === '[') {
    const [, not = '', name = '', all = ''] = /^\[:(\^?)([a-z]+):\]/.exec(reader.rest()) ?? []
    const known = posixClass(name, not !== '')
    if (known !== undefined) {
      reader.take(`[:${not}${name}:]${all}`)
      return known
    }
    reader.next()
    return bracketClass(reader, ignoresBlanks)
  }
  const start = charOrSet(reader)
  if (ignoresBlanks) reader.skipBlanks()
  // a dash before the end or before another dash is not a range
  if (reader.peek() !== '-' || /^-[\]-]/.test(reader.rest())) return start.text
  if (start.char === undefined) throw invalidPattern('a range must begin with a character.')
  reader.next()
  if (ignoresBlanks) reader.skipBlanks()
  const end = charOrSet(reader)
  if (end.char === undefined) throw invalidPattern('a range must end in a character.')
  if ((start.char.codePointAt(0) as number) > (end.char.codePointAt(0) as number)) {
    throw invalidPattern(`the range ${start.char}-${end.char} is out of order.`)
  }
  return `${start.text}-${end.text}`
}

interface ClassItem {
  readonly text: string
  /** Undefined for a set, which cannot begin or end a range. */
  readonly char?: string
}

function charOrSet(reader: PatternReader): ClassItem {
  if (reader.isAtEnd) throw invalidPattern('a character class is not closed.')
  if (!reader.take('\\')) {
    const char = reader.next()
    return { text: literal(char), char }
  }
  const set = escapedSet(reader)
  if (set !== undefined) return { text: set }
  const char = escapedChar(reader)
  if (char === undefined) throw invalidPattern(`\\${reader.peek()} is not a known escape in a class.`)
  return { text: literal(char), char }
}

/** `\d`, `\pL`, `\p{Greek}` and similar, after the backslash. */
export function escapedSet(reader: PatternReader): string | undefined {
  const letter = reader.peek()
  if (letter !== 'p' && letter !== 'P') {
    const known = perlClass(letter)
    if (known !== undefined) reader.next()
    return known
  }
  reader.next()
  const name = reader.take('{') ? reader.until('}') : reader.next()
  if (name === undefined || name === '') throw invalidPattern('a Unicode property has no name.')
  return unicodeProperty(name, letter === 'P')
}
