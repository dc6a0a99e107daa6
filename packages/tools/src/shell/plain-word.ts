/** How a character of a word was written: bare, in quotes, or after a backslash. */
export type Mark = 'bare' | 'quoted' | 'escaped'

/** A word without its quotes. The shell still expands bare wildcards, and nothing else. */
export interface PlainWord {
  readonly text: string
  /** One entry per UTF-16 unit of the text. */
  readonly marks: readonly Mark[]
  /** The word has wildcards that the shell expands to file names. */
  readonly hasGlob: boolean
}

/** Whether the shell treats the character at this index as a wildcard. */
export function isGlobAt({ text, marks, hasGlob }: PlainWord, index: number): boolean {
  if (!hasGlob || marks[index] !== 'bare') return false
  const sign = text[index]
  return sign === '*' || sign === '?' || (sign === '[' && index < text.lastIndexOf(']'))
}

export function hasGlobSigns(text: string, marks: readonly Mark[]): boolean {
  const lastBracket = text.lastIndexOf(']')
  for (let index = 0; index < text.length; index++) {
    if (marks[index] !== 'bare') continue
    const sign = text[index]
    if (sign === '*' || sign === '?' || (sign === '[' && index < lastBracket)) return true
  }
  return false
}

/** The parts of a path, also of a path that is an option's value. */
const pathParts = (text: string): string[] => text.split(/[/=:,]/)

/** A part of the word is `..`, or a wildcard that may match it: only `.*` and `.?` can. */
export const leadsUp = ({ text, hasGlob }: PlainWord): boolean =>
  pathParts(text).some((part) => part === '..' || (hasGlob && /^\..*[*?[]/.test(part)))
