import { readTokens, type Token } from './plain-tokens.ts'
import type { PlainWord } from './plain-word.ts'

/** One command in which every word is literal. */
export interface PlainCommand {
  /** `NAME=value` before the program. */
  readonly assignments: readonly PlainWord[]
  /** The program and its arguments. */
  readonly words: readonly [PlainWord, ...PlainWord[]]
  /** The files that it reads its input from. */
  readonly inputs: readonly PlainWord[]
}

export type PlainScript =
  | {
      readonly ok: true
      readonly commands: readonly [PlainCommand, ...PlainCommand[]]
      /** The operator before each command: `''`, `';'`, `'&&'`, `'||'`, `'|'`, `'|&'`, each optionally with a `!`. */
      readonly joints: readonly string[]
    }
  | { readonly ok: false; readonly because: string }

export const maxCommandChars = 16_384

const reserved = new Set(
  'if then elif else fi for while until do done case esac select function in time coproc { } [[ ]] !'.split(' '),
)

export const isReserved = (word: string): boolean => reserved.has(word)

const refuse = (because: string): PlainScript => ({ ok: false, because })

/**
 * Parses a command that the shell runs exactly as written: commands of literal words, joined by `&&`, `||`,
 * `|`, `;` and line breaks. No substitution, background job, compound command or redirect, except `2>&1`,
 * `>/dev/null` and `< file`. Linear in the length of the text.
 */
export const readPlainScript = (text: string): PlainScript => read(text, false)

/** The same for the content of a rule, where a star may also stand for a program. */
export const readPlainRule = (text: string): PlainScript => read(text, true)

function read(text: string, isRule: boolean): PlainScript {
  if (text.length > maxCommandChars) return refuse(`it is longer than ${maxCommandChars} characters`)
  const tokens = readTokens(text)
  return typeof tokens === 'string' ? refuse(tokens) : groupTokens(tokens, isRule)
}

interface Draft {
  assignments: PlainWord[]
  words: PlainWord[]
  inputs: PlainWord[]
}

function groupTokens(tokens: readonly Token[], isRule: boolean): PlainScript {
  const commands: PlainCommand[] = []
  const joints: string[] = []
  let draft: Draft = { assignments: [], words: [], inputs: [] }
  let joint = ''
  /** The last word of a `time` before a command. */
  let timer: string | undefined
  const isEmpty = (): boolean => draft.assignments.length + draft.words.length + draft.inputs.length === 0
  for (const token of tokens) {
    if (token.type === 'input') {
      // after `time` and a redirect, the shell expects a program
      timer = undefined
      draft.inputs.push(token.word)
    } else if (token.type === 'word') {
      if (isEmpty() && isTimer(token.word, joint, timer)) {
        timer = token.word.text
        continue
      }
      const problem = takeWord(draft, token.word, isRule, () => {
        joint += '!'
      })
      if (problem !== undefined) return refuse(problem)
      timer = undefined
    } else if (isEmpty()) {
      if (timer !== undefined) return refuse('it has time without a command')
      // a line break may follow any joint, and stand alone
      if (token.text !== '\n' || joint.includes('!')) return refuse('it has an operator where a command is expected')
    } else {
      const problem = closeCommand(draft, commands)
      if (problem !== undefined) return refuse(problem)
      joints.push(joint)
      draft = { assignments: [], words: [], inputs: [] }
      joint = token.text === '\n' ? ';' : token.text
    }
  }
  if (!isEmpty()) {
    const problem = closeCommand(draft, commands)
    if (problem !== undefined) return refuse(problem)
    joints.push(joint)
  } else if (timer !== undefined || (joint !== '' && joint !== ';')) return refuse('it ends in an operator')
  const [first, ...rest] = commands
  return first === undefined ? refuse('it is empty') : { ok: true, commands: [first, ...rest], joints }
}

/** `time` and `time -p` before a pipeline: bash itself measures, and what runs stays the same. */
function isTimer({ text, marks }: PlainWord, joint: string, before: string | undefined): boolean {
  if (marks.some((mark) => mark !== 'bare') || /^\|&?$|!/.test(joint)) return false
  return before === undefined ? text === 'time' : before === 'time' && text === '-p'
}

function takeWord(draft: Draft, word: PlainWord, isRule: boolean, negate: () => void): string | undefined {
  if (draft.words.length > 0) {
    draft.words.push(word)
    return undefined
  }
  const isBare = word.marks.every((mark) => mark === 'bare')
  if (word.text === '!' && isBare && draft.assignments.length + draft.inputs.length === 0) {
    negate()
    return undefined
  }
  const equals = /^[A-Za-z_]\w*(\[[^\]]*\])?\+?=/.exec(word.text)
  if (equals !== null && word.marks.slice(0, equals[0].length).every((mark) => mark === 'bare')) {
    if (!/^[A-Za-z_]\w*=$/.test(equals[0]) || word.hasGlob) return 'it has an assignment that is not literal'
    draft.assignments.push(word)
    return undefined
  }
  if (isReserved(word.text)) return `it has a compound command (${word.text})`
  if (word.text === '' || (word.hasGlob && !isRule)) return 'its program is not a literal word'
  draft.words.push(word)
  return undefined
}

function closeCommand({ assignments, words, inputs }: Draft, commands: PlainCommand[]): string | undefined {
  const [program, ...args] = words
  if (program === undefined) return 'it has an assignment or a redirect without a command'
  commands.push({ assignments, words: [program, ...args], inputs })
  return undefined
}
