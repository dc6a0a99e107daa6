import { hasGlobSigns, type Mark, type PlainWord } from './plain-word.ts'

export type Token =
  | { readonly type: 'word'; readonly word: PlainWord }
  /** `< file` */
  | { readonly type: 'input'; readonly word: PlainWord }
  | { readonly type: 'operator'; readonly text: '&&' | '||' | '|' | '|&' | ';' | '\n' }

// letters, digits, marks, punctuation, symbols, plain space, tab and line break: no invisible characters
const visible = /^[ \t\n\p{L}\p{N}\p{M}\p{P}\p{S}]*$/u
const invisible = /\p{Default_Ignorable_Code_Point}/u

/** The tokens of a plain script, or the reason why it is not plain. */
export function readTokens(text: string): Token[] | string {
  if (!visible.test(text) || invisible.test(text)) return 'it contains control or invisible characters'
  const scanner = new Scanner(text)
  scanner.scan()
  return scanner.problem ?? scanner.tokens
}

/** Set after `>`: the next word is the redirect's target. */
type Pending = 'input' | 'output' | 'duplicate' | undefined

class Scanner {
  readonly tokens: Token[] = []
  problem: string | undefined
  readonly #text: string
  #at = 0
  /** The word so far; undefined between words. */
  #word: string | undefined
  #marks: Mark[] = []
  #pending: Pending

  constructor(text: string) {
    this.#text = text
  }

  scan(): void {
    while (this.#at < this.#text.length && this.problem === undefined) this.#step(this.#text[this.#at] as string)
    this.#endWord()
    if (this.#pending !== undefined) this.problem ??= 'a redirect has no target'
  }

  #step(sign: string): void {
    switch (sign) {
      case ' ':
      case '\t':
        this.#endWord()
        this.#at++
        return
      case '\n':
        return this.#operator('\n')
      case ';':
        return this.#next(1) === ';' || this.#next(1) === '&' ? this.#fail(';;') : this.#operator(';')
      case '|':
        return this.#operator(this.#next(1) === '|' ? '||' : this.#next(1) === '&' ? '|&' : '|')
      case '&':
        if (this.#next(1) === '&') return this.#operator('&&')
        return this.#next(1) === '>' ? this.#output(1, true) : this.#fail('a background job')
      case '<':
        return this.#input()
      case '>':
        return this.#output(0, false)
      case '#':
        return this.#word === undefined ? this.#comment() : this.#take(sign, 'bare')
      case "'":
        return this.#singleQuoted()
      case '"':
        return this.#doubleQuoted()
      case '\\':
        return this.#escaped()
      case '$':
      case '`':
        return this.#fail('a substitution')
      case '(':
      case ')':
        return this.#fail('brackets')
      default:
        return this.#take(sign, 'bare')
    }
  }

  #next(distance: number): string | undefined {
    return this.#text[this.#at + distance]
  }

  #fail(what: string): void {
    this.problem ??= `it has ${what}`
  }

  #take(sign: string, mark: Mark): void {
    this.#word = (this.#word ?? '') + sign
    this.#marks.push(mark)
    this.#at++
  }

  #operator(text: Extract<Token, { type: 'operator' }>['text']): void {
    this.#endWord()
    if (this.#pending !== undefined) return this.#fail('a redirect without a target')
    this.tokens.push({ type: 'operator', text })
    this.#at += text.length
  }

  #comment(): void {
    const end = this.#text.indexOf('\n', this.#at)
    this.#at = end < 0 ? this.#text.length : end
  }

  #singleQuoted(): void {
    const end = this.#text.indexOf("'", this.#at + 1)
    if (end < 0) return this.#fail('an unclosed quote')
    this.#word = (this.#word ?? '') + this.#text.slice(this.#at + 1, end)
    for (let count = end - this.#at - 1; count > 0; count--) this.#marks.push('quoted')
    this.#at = end + 1
  }

  #doubleQuoted(): void {
    this.#word ??= ''
    for (this.#at++; this.problem === undefined; ) {
      const sign = this.#next(0)
      if (sign === undefined) return this.#fail('an unclosed quote')
      if (sign === '"') {
        this.#at++
        return
      }
      if (sign === '`') return this.#fail('a substitution')
      // a dollar sign at the end is literal: "foo$"
      if (sign === '$' && !/["\s|)]/.test(this.#next(1) ?? '$')) return this.#fail('a substitution')
      if (sign === '\\' && /[$`"\\\n]/.test(this.#next(1) ?? '')) {
        this.#at++
        if (this.#next(0) === '\n') this.#at++
        else this.#take(this.#next(0) as string, 'quoted')
      } else this.#take(sign, 'quoted')
    }
  }

  #escaped(): void {
    const sign = this.#next(1)
    if (sign === undefined) return this.#fail('a trailing backslash')
    this.#at++
    // the shell removes both everywhere
    if (sign === '\n') this.#at++
    else this.#take(sign, 'escaped')
  }

  /** Only `<` from a file: no here-document, no substitution, no other descriptor. */
  #input(): void {
    if (this.#isDescriptor() || this.#isVariable()) return this.#fail('a redirect of a descriptor')
    this.#endWord()
    if (this.#pending !== undefined || /[<&>(]/.test(this.#next(1) ?? '')) return this.#fail('a redirect')
    this.#at++
    this.#pending = 'input'
  }

  #output(skip: number, isBoth: boolean): void {
    if (this.#isVariable()) return this.#fail('a redirect of a descriptor')
    if (!isBoth && this.#isDescriptor()) {
      if (!/^[12]$/.test(this.#word ?? '')) return this.#fail('a redirect of a descriptor')
      this.#word = undefined
      this.#marks = []
    } else this.#endWord()
    if (this.#pending !== undefined) return this.#fail('a redirect')
    this.#at += skip + 1
    const sign = this.#next(0)
    if (sign === '>') this.#at++
    else if (sign === '&' && !isBoth) {
      this.#at++
      this.#pending = 'duplicate'
      return
    }
    if (/[|&(<>]/.test(this.#next(0) ?? '')) return this.#fail('a redirect')
    this.#pending = 'output'
  }

  /** A number right before `<` or `>` is not a word. */
  #isDescriptor(): boolean {
    return this.#word !== undefined && /^\d+$/.test(this.#word) && this.#marks.every((mark) => mark === 'bare')
  }

  /** `{NAME}>` sets a variable. */
  #isVariable(): boolean {
    return this.#word?.endsWith('}') === true
  }

  #endWord(): void {
    const text = this.#word
    if (text === undefined) return
    const word = { text, marks: this.#marks, hasGlob: hasGlobSigns(text, this.#marks) }
    const pending = this.#pending
    this.#word = undefined
    this.#marks = []
    this.#pending = undefined
    if (isExpanded(word)) return this.#fail(`a word that the shell would expand: ${text.slice(0, 60)}`)
    if (pending === undefined) this.tokens.push({ type: 'word', word })
    else if (pending === 'input') {
      if (word.hasGlob || text === '') return this.#fail('a redirect')
      this.tokens.push({ type: 'input', word })
    } else {
      const isBare = word.marks.every((mark) => mark === 'bare')
      const isHarmless = pending === 'duplicate' ? text === '1' || text === '2' : text === '/dev/null'
      if (!isBare || !isHarmless) return this.#fail('a redirect other than 2>&1, >/dev/null and < file')
    }
  }
}

/** A tilde in a place where the shell expands it, or braces that expand to several words. */
function isExpanded({ text, marks }: PlainWord): boolean {
  let hasBrace = false
  for (let index = 0; index < text.length; index++) {
    if (marks[index] !== 'bare') continue
    const sign = text[index]
    if (sign === '{') hasBrace = true
    if (sign === '~' && (index === 0 || /[:=]/.test(text[index - 1] as string))) return true
  }
  return hasBrace && /,|\.\./.test(text)
}
