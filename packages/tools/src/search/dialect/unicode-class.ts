import { invalidPattern } from './pattern-error.ts'

/** ripgrep's word characters, as the inside of a class. */
export const wordSet = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}'

/** The complement. Not `[^…]`, which V8 gets wrong in a repeated group under the flag `v` (Node 20). */
export function without(set: string): string {
  return `[\\p{Any}--${set}]`
}

const perl: Record<string, string> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: '\\p{White_Space}',
  S: '\\P{White_Space}',
  w: `[${wordSet}]`,
  W: without(`[${wordSet}]`),
}

const posix: Record<string, string> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t\\x20',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '\\x21-\\x7e',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e',
  space: '\\t\\n\\v\\f\\r\\x20',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
}

/** `\d` and similar, for all of Unicode. */
export const perlClass = (letter: string): string | undefined =>
  Object.hasOwn(perl, letter) ? perl[letter] : undefined

/** `[:alpha:]` and similar, for ASCII. */
export const posixClass = (name: string, isNegated: boolean): string | undefined =>
  Object.hasOwn(posix, name) ? (isNegated ? without(`[${posix[name]}]`) : `[${posix[name]}]`) : undefined

/** `\p{Greek}`, `\p{sc=Greek}`, `\p{sc!=Greek}`: names are matched loosely, and `Script=` is optional. */
export function unicodeProperty(given: string, isNegated: boolean): string {
  const [, key, operator, value] = /^([^=:!]*?)(!=|=|:)(.*)$/s.exec(given) ?? []
  const letter = isNegated === (operator === '!=') ? 'p' : 'P'
  const keys = key === undefined ? ['gc=', 'sc=', ''] : spellings(key).map((name) => `${name}=`)
  for (const name of spellings(value ?? given)) {
    for (const start of keys) if (isProperty(start + name)) return `\\${letter}{${start}${name}}`
  }
  throw invalidPattern(`unknown Unicode property ${given}.`)
}

function spellings(name: string): string[] {
  const words = name.trim().split(/[_\s-]+/)
  const capital = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()).join('_')
  return [...new Set([capital, name.trim(), name.trim().toLowerCase()])]
}

function isProperty(name: string): boolean {
  if (!/^[\w=]+$/.test(name)) return false
  try {
    return new RegExp(`\\p{${name}}`, 'v') !== undefined
  } catch {
    return false
  }
}
