import type { Word, WordPart } from 'unbash'

/** A word that means itself: no expansion but, perhaps, of plain wildcards. */
export interface PlainWord {
  /** Without its quotes. */
  readonly text: string
  readonly hasGlob: boolean
  /** It may become a word that begins with a dash, and so an option. */
  readonly beginsWithGlob: boolean
}

/** The word if it is plain: literals, quoted literals, wildcards. Anything else could become anything. */
export function plainWord(word: Word): PlainWord | undefined {
  const { parts } = word
  if (parts === undefined) {
    const isPlain = word.text === word.value && isBareText(word.text, true)
    return isPlain ? { text: word.value, hasGlob: false, beginsWithGlob: false } : undefined
  }
  if (!parts.every((part, index) => isPlainPart(part, index === 0))) return undefined
  const hasGlob = parts.some(({ type }) => type === 'Glob')
  // an empty quote before a wildcard hides it, but not from the shell
  const first = parts.find((part) => part.type === 'Glob' || textOf(part) !== '')
  return { text: word.value, hasGlob, beginsWithGlob: first?.type === 'Glob' }
}

function isPlainPart(part: WordPart, isFirst: boolean): boolean {
  if (part.type === 'SingleQuoted') return true
  if (part.type === 'DoubleQuoted') return part.parts.every(({ type }) => type === 'Literal')
  if (part.type === 'Glob') return part.parts === undefined || part.parts.every((each) => isPlainPart(each, false))
  return part.type === 'Literal' && part.text === part.value && isBareText(part.text, isFirst)
}

/** Without quotes: no escapes, no braces, no syntax, no tilde that the shell would replace. */
const isBareText = (text: string, isFirst: boolean): boolean =>
  !/[\\{}$`]/.test(text) && !hasSyntax(text) && !/[:=]~/.test(text) && !(isFirst && text.startsWith('~'))

/** What stands in no word without quotes: the shell made something else of it than the parser did, as of `2<(rm x)`. */
export const hasSyntax = (text: string): boolean => /[<>();&|\s]/.test(text.replace(/\\./gs, ''))

function textOf(part: WordPart): string {
  if (part.type === 'SingleQuoted') return part.value
  if (part.type === 'DoubleQuoted') return part.text.slice(1, -1)
  return part.text
}
