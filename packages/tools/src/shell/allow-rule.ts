import { boundedCache } from './bounded-cache.ts'
import { evaluatesItsWords } from './changes-the-shell.ts'
import { isHarmlessAssignment } from './harmless-variables.ts'
import { isReserved, type PlainCommand, type PlainScript, readPlainRule } from './plain-script.ts'
import { isGlobAt, leadsUp, type PlainWord } from './plain-word.ts'

/** One command of a rule. */
export interface CommandPattern {
  readonly assignments: readonly PlainWord[]
  readonly words: readonly PlainWord[]
  readonly inputs: readonly PlainWord[]
  /** Further words may follow. */
  readonly isOpen: boolean
}

/** The content of a rule's parentheses: one command, or a chain that must match as a whole. */
export type ShellRule =
  | { readonly ok: true; readonly forms: readonly CommandPattern[][]; readonly joints: readonly string[] }
  | { readonly ok: false; readonly because: string }

type ReadScript = Extract<PlainScript, { ok: true }>

export const readShellRule = boundedCache(2_000, (spec: string): ShellRule => {
  const script = readPlainRule(spec.trim())
  if (!script.ok) return script
  const patterns = script.commands.map(patternOf)
  // a trailing `:*` is a word of its own, or part of the last word: `npm run test:*` can mean both
  const last = patterns.at(-1) as CommandPattern
  const prefix = withoutColonStar(last)
  const program = prefix?.words[0]?.text ?? ''
  if (isReserved(program)) return { ok: false, because: `${program} belongs to the shell and is not a program` }
  const withPrefix = prefix && [...patterns.slice(0, -1), prefix]
  // the name of a program has no colon: `node:*` means only node
  const forms = withPrefix === undefined ? [patterns] : last.words.length === 1 ? [withPrefix] : [patterns, withPrefix]
  const opened = forms.map((form) =>
    form.map((each, index) => (index === form.length - 1 && prefix ? open(each) : each)),
  )
  return { ok: true, forms: opened, joints: script.joints }
})

const open = (pattern: CommandPattern): CommandPattern => ({ ...pattern, isOpen: true })

function patternOf({ assignments, words, inputs }: PlainCommand): CommandPattern {
  const last = words.at(-1) as PlainWord
  const isOpen = isWildcard(last)
  return { assignments, words: isOpen ? words.slice(0, -1) : words, inputs, isOpen }
}

function withoutColonStar(pattern: CommandPattern): CommandPattern | undefined {
  const last = pattern.words.at(-1)
  if (last === undefined || !/.:\*$/.test(last.text) || last.marks.slice(-2).some((mark) => mark !== 'bare'))
    return undefined
  const text = last.text.slice(0, -2)
  const word = { ...last, text, marks: last.marks.slice(0, -2), hasGlob: text.includes('*') }
  return { ...pattern, words: [...pattern.words.slice(0, -1), word], isOpen: true }
}

const isWildcard = ({ text, marks }: PlainWord): boolean => text === '*' && marks[0] === 'bare'

/** How a rule covers a command, with the files its input comes from; the tools must be allowed to read those. */
export type Coverage = { readonly inputs: readonly PlainWord[] } | undefined

/** Whether a rule covers a whole script by itself. */
export function coversScript(rule: ShellRule, script: ReadScript): Coverage {
  if (!rule.ok || rule.joints.length !== script.joints.length) return undefined
  if (!rule.joints.every((joint, index) => joint === script.joints[index])) return undefined
  for (const form of rule.forms) {
    const parts = script.commands.map((command, index) => coversOne(form[index] as CommandPattern, command))
    if (parts.every((part) => part !== undefined)) return { inputs: parts.flatMap((part) => part?.inputs ?? []) }
  }
  return undefined
}

/** Whether a rule for one command covers this command, at any place in a chain. */
export function coversCommand(rule: ShellRule, command: PlainCommand): Coverage {
  if (!rule.ok || rule.joints.length !== 1) return undefined
  // a ! in front of a rule does not apply to other positions
  if (rule.joints[0] !== '') return undefined
  for (const [pattern] of rule.forms) {
    const coverage = coversOne(pattern as CommandPattern, command)
    if (coverage !== undefined) return coverage
  }
  return undefined
}

function coversOne(pattern: CommandPattern, { assignments, words, inputs }: PlainCommand): Coverage {
  const { words: wanted, isOpen } = pattern
  if (isOpen ? words.length < wanted.length : words.length !== wanted.length) return undefined
  if (!wanted.every((word, index) => fits(word, words[index] as PlainWord))) return undefined
  const isKnown = (word: PlainWord): boolean =>
    isHarmlessAssignment(word) || pattern.assignments.some((own) => fits(own, word))
  if (!assignments.every(isKnown) || pattern.assignments.length > assignments.length) return undefined
  if (!pattern.assignments.every((own) => assignments.some((word) => fits(own, word)))) return undefined
  if (!pattern.inputs.every((own) => inputs.some((word) => fits(own, word)))) return undefined
  if (evaluatesItsWords({ assignments, words, inputs })) return undefined
  return { inputs: inputs.filter((word) => !pattern.inputs.some((own) => fits(own, word))) }
}

/**
 * Matches a word of a rule with a word of a command. A bare star matches any part of a word; `\*` matches a literal
 * star; a quoted part of the rule must not be a wildcard in the command.
 */
function fits(pattern: PlainWord, word: PlainWord): boolean {
  const stars: number[] = []
  for (let index = 0; index < pattern.text.length; index++) {
    if (pattern.text[index] === '*' && pattern.marks[index] === 'bare') stars.push(index)
  }
  if (stars.length === 0)
    return pattern.text.length === word.text.length && fitsAt(pattern, 0, pattern.text.length, word, 0)
  const isWhole = pattern.text.length === 1
  // a path that a rule names must not be left with `..`
  if (!isWhole && leadsUp(word) && !pattern.text.includes('..')) return false
  return fitsStars(pattern, stars, word)
}

function fitsStars(pattern: PlainWord, stars: readonly number[], word: PlainWord): boolean {
  const first = stars[0] as number
  const tail = pattern.text.length - 1 - (stars.at(-1) as number)
  const end = word.text.length - tail
  if (end < first || !fitsAt(pattern, 0, first, word, 0)) return false
  if (!fitsAt(pattern, pattern.text.length - tail, pattern.text.length, word, end)) return false
  let at = first
  for (const [index, star] of stars.slice(0, -1).entries()) {
    const next = stars[index + 1] as number
    const length = next - star - 1
    while (at + length <= end && !fitsAt(pattern, star + 1, next, word, at)) at++
    if (at + length > end) return false
    at += length
  }
  return true
}

function fitsAt(pattern: PlainWord, from: number, to: number, word: PlainWord, at: number): boolean {
  for (let index = from; index < to; index++) {
    const place = at + index - from
    if (pattern.text[index] !== word.text[place]) return false
    if (pattern.marks[index] === 'quoted' && isGlobAt(word, place)) return false
  }
  return true
}
