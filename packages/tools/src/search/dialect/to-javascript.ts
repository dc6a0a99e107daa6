import { bracketClass, escapedSet } from './bracket-class.ts'
import { invalidPattern, needsRipgrep } from './pattern-error.ts'
import { escapedChar, literal, type PatternReader, readPattern } from './pattern-reader.ts'
import { without, wordSet } from './unicode-class.ts'

export interface ScriptPattern {
  readonly source: string
  readonly flags: string
}

/** The flags that `(?…)` may set and clear. */
interface Flags {
  readonly i: boolean
  readonly m: boolean
  readonly s: boolean
  readonly U: boolean
  readonly x: boolean
}

interface Translation {
  readonly reader: PatternReader
  readonly isMultiline: boolean
  readonly seesReturns: boolean
  /** Case flags of the letters so far: JavaScript has one case flag for the whole pattern. */
  readonly cases: Set<boolean>
  readonly names: Set<string>
  depth: number
}

const word = `[${wordSet}]`
const boundaries: Record<string, string> = {
  b: `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`,
  B: `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`,
  '<': `(?:(?<!${word})(?=${word}))`,
  '>': `(?:(?<=${word})(?!${word}))`,
}
const maxDepth = 200

/**
 * Converts a ripgrep (Rust) regular expression to an equivalent JavaScript one. Throws if the pattern is invalid, or
 * if JavaScript cannot express it.
 */
export function toJavaScript(pattern: string, ignoreCase: boolean, multiline: boolean): ScriptPattern {
  const reader = readPattern(pattern)
  const at: Translation = {
    reader,
    isMultiline: multiline,
    seesReturns: /\\r|\r/.test(pattern),
    cases: new Set(),
    names: new Set(),
    depth: 0,
  }
  const source = alternation(at, { i: ignoreCase, m: true, s: multiline, U: false, x: false })
  if (!reader.isAtEnd) throw invalidPattern('a closing bracket has no opening one.')
  if (at.cases.size > 1) throw needsRipgrep('(?i) for only a part of it')
  return { source, flags: `v${at.cases.has(true) ? 'i' : ''}${multiline ? 'g' : ''}` }
}

function alternation(at: Translation, given: Flags): string {
  const { reader } = at
  if (++at.depth > maxDepth) throw invalidPattern('its brackets are nested too deeply.')
  let flags = given
  let out = ''
  for (;;) {
    if (flags.x) reader.skipBlanks()
    if (reader.isAtEnd || reader.peek() === ')') break
    if (reader.take('|')) {
      out += '|'
      continue
    }
    const switched = flagsOnly(reader, flags)
    if (switched !== undefined) {
      flags = switched
      if (/^[*+?{]/.test(reader.rest())) throw invalidPattern('a repetition has nothing to repeat.')
    } else out += repeated(at, atom(at, flags), flags)
  }
  at.depth--
  return out
}

function repeated({ reader }: Translation, first: string, { U, x }: Flags): string {
  let text = first
  for (;;) {
    if (x) reader.skipBlanks()
    const sign = reader.peek()
    if (sign === '' || !'*+?{'.includes(sign)) return text
    reader.next()
    const count = sign === '{' ? counted(reader) : sign
    const isLazy = reader.take('?') !== U
    text = `(?:${text})${count}${isLazy ? '?' : ''}`
  }
}

function counted(reader: PatternReader): string {
  const [, from = '', comma = '', to = ''] = /^(\d+)(,?)(\d*)$/.exec(reader.until('}') ?? '') ?? []
  if (from === '' || (comma === '' && to !== ''))
    throw invalidPattern('{ begins a repetition such as {2,3}. Write \\{ for the character.')
  if (to !== '' && Number(to) < Number(from)) throw invalidPattern(`the repetition {${from},${to}} is out of order.`)
  return `{${from}${comma}${to}}`
}

function atom(at: Translation, flags: Flags): string {
  const { reader, seesReturns } = at
  const char = reader.next()
  switch (char) {
    case '(':
      return group(at, flags)
    case '[':
      at.cases.add(flags.i)
      return withoutLineBreak(at, bracketClass(reader, flags.x))
    case '.':
      return flags.s ? '[\\s\\S]' : without(seesReturns ? '[\\n]' : '[\\r\\n]')
    case '^':
      return flags.m ? '(?<=^|\\n)' : '(?:^)'
    case '$':
      if (!flags.m) return '(?:$)'
      return seesReturns ? '(?=\\n|$)' : '(?=\\r?(?:\\n|$))'
    case '*':
    case '+':
    case '?':
    case '{':
      throw invalidPattern(`${char} has nothing to repeat. Write \\${char} for the character.`)
    case '\\':
      return escaped(at, flags)
    default:
      return letter(at, char, flags)
  }
}

function letter(at: Translation, char: string, { i }: Flags): string {
  if (char.toLowerCase() !== char.toUpperCase()) at.cases.add(i)
  return withoutLineBreak(at, literal(char))
}

/** As in ripgrep, a line break alone is an error where it can never match. */
function withoutLineBreak({ isMultiline }: Translation, text: string): string {
  if (isMultiline || !/^\[*\\u\{a\}\]*$/.test(text)) return text
  throw invalidPattern('it contains a line break, which never matches within one line. Set multiline.')
}

function escaped(at: Translation, flags: Flags): string {
  const { reader } = at
  const isProperty = /^p/i.test(reader.peek())
  const set = escapedSet(reader)
  if (set !== undefined) {
    if (isProperty) at.cases.add(flags.i)
    return set
  }
  const [half] = /^b\{(?:start|end)(?:-half)?\}/.exec(reader.rest()) ?? []
  if (half !== undefined) {
    reader.take(half)
    return {
      'b{start}': boundaries['<'] as string,
      'b{end}': boundaries['>'] as string,
      'b{start-half}': `(?<!${word})`,
      'b{end-half}': `(?!${word})`,
    }[half] as string
  }
  // in ripgrep, these match at the ends of the searched text, which may be a line or a file
  if (/[Az]/.test(reader.peek())) throw needsRipgrep(`\\${reader.peek()}`)
  const boundary = boundaries[reader.peek()]
  if (boundary !== undefined) {
    reader.next()
    return boundary
  }
  const char = escapedChar(reader)
  if (char === undefined) throw invalidPattern(`\\${reader.peek()} is not a known escape.`)
  return letter(at, char, flags)
}

function group(at: Translation, flags: Flags): string {
  const { reader } = at
  let inner = flags
  if (reader.take('?')) {
    if (/^(?:[=!]|<[=!])/.test(reader.rest())) throw invalidPattern('look-around is not supported.')
    if (reader.take('P<') || reader.take('<')) {
      const name = reader.until('>')
      if (name === undefined || !/^[\p{Alphabetic}_][\p{Alphabetic}\p{Nd}_.[\]]*$/u.test(name) || at.names.has(name)) {
        throw invalidPattern('a group name is missing, invalid or used twice.')
      }
      at.names.add(name)
    } else inner = withFlags(flags, reader.until(':'))
  }
  const text = alternation(at, inner)
  if (!reader.take(')')) throw invalidPattern('a group is not closed.')
  return `(?:${text})`
}

/** `(?i)`, which applies until its group ends; undefined if something else comes next. */
function flagsOnly(reader: PatternReader, flags: Flags): Flags | undefined {
  const [all, letters] = /^\(\?([a-zA-Z-]+)\)/.exec(reader.rest()) ?? []
  if (all === undefined || !reader.take(all)) return undefined
  return withFlags(flags, letters)
}

function withFlags(flags: Flags, letters: string | undefined): Flags {
  const [, on = '', off = ''] = /^([imsUxuR]*)(?:-([imsUxuR]+))?$/.exec(letters ?? '?') ?? [undefined, '?']
  if (on === '?') throw invalidPattern('a group begins with an unknown (? sequence.')
  if (off.includes('u')) throw needsRipgrep('(?-u)')
  if ((on + off).includes('R')) throw needsRipgrep('(?R)')
  const changed = { ...flags }
  for (const name of ['i', 'm', 's', 'U', 'x'] as const) {
    if (on.includes(name)) changed[name] = true
    if (off.includes(name)) changed[name] = false
  }
  return changed
}
