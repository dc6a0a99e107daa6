import { readShellRule } from './allow-rule.ts'
import { boundedCache } from './bounded-cache.ts'
import type { PlainWord } from './plain-word.ts'
import { nameOf, programsRun, type RunCommand } from './programs-run.ts'

/**
 * Whether a deny or ask rule matches a command: any program that the command would run, at any place, and every
 * command whose programs cannot be determined.
 */
export function concernsCommand(spec: string, command: string): boolean {
  const { patterns } = readPatterns(spec)
  const { commands } = programsRun(command)
  // a rule that cannot be parsed denies more rather than less
  if (patterns === undefined || commands === undefined) return true
  return commands.some((each) => patterns.some((pattern) => speaksOf(pattern, each)))
}

const readPatterns = boundedCache(2_000, (spec: string): { readonly patterns: readonly Pattern[] | undefined } => {
  const rule = readShellRule(spec)
  if (!rule.ok) return { patterns: undefined }
  return { patterns: rule.forms.flatMap((form) => form.slice(0, 1)).map(({ words }) => readPattern(words)) }
})

type Test = (word: string) => boolean

interface Pattern {
  readonly program: Test | undefined
  readonly operands: readonly Test[]
  readonly options: readonly PlainWord[]
}

function readPattern(words: readonly PlainWord[]): Pattern {
  const [program, ...rest] = words
  return {
    program: program && starsIn(program, (text) => text.toLowerCase()),
    operands: rest.filter(({ text }) => !isOption(text)).map((word) => starsIn(word)),
    options: rest.filter(({ text }) => isOption(text)),
  }
}

const isOption = (text: string): boolean => /^-./.test(text)

function speaksOf({ program, operands, options }: Pattern, command: RunCommand): boolean {
  const [first, ...args] = command
  if (program === undefined) return true
  if (first !== undefined && !program(nameOf(first)) && !program(first)) return false
  return options.every((option) => hasOption(option, args)) && operandsFit(operands, args)
}

/** The words of a rule must be the first operands; options and their possible values may stand between them. */
function operandsFit(wanted: readonly Test[], args: RunCommand): boolean {
  let reached = new Set([0])
  for (const [index, word] of args.entries()) {
    const next = new Set<number>()
    const before = args[index - 1]
    const isSkippable =
      word === undefined || isOption(word) || (index > 0 && (before === undefined || isOption(before)))
    for (const count of reached) {
      if (count === wanted.length) return true
      if (isSkippable) next.add(count)
      if (word === undefined || wanted[count]?.(word)) next.add(count + 1)
    }
    reached = next
  }
  return reached.has(wanted.length)
}

/** `-rf` matches if each of its letters is present, `--force` also with a value. */
function hasOption(option: PlainWord, args: RunCommand): boolean {
  if (args.includes(undefined)) return true
  const { text } = option
  if (text.startsWith('--')) {
    const fits = starsIn(option)
    return args.some((word = '') => fits(word) || fits(word.split('=', 1)[0] ?? ''))
  }
  const letters = new Set(args.flatMap((word = '') => (/^-[^-]/.test(word) ? [...word.slice(1)] : [])))
  return [...text.slice(1)].every((letter) => letter === '*' || letters.has(letter))
}

/** Matches a word with stars, each for any part of a word, in linear time. */
function starsIn({ text, marks }: PlainWord, plain: (text: string) => string = (each) => each): Test {
  const pieces: string[] = []
  let piece = ''
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '*' && marks[index] === 'bare') {
      pieces.push(piece)
      piece = ''
    } else piece += text[index]
  }
  pieces.push(piece)
  const [first = '', ...rest] = pieces.map(plain)
  const last = rest.pop()
  return (given) => {
    const word = plain(given)
    if (last === undefined) return word === first
    const end = word.length - last.length
    if (end < first.length || !word.startsWith(first) || !word.endsWith(last)) return false
    let from = first.length
    return rest.every((piece) => {
      const at = word.indexOf(piece, from)
      from = at + piece.length
      return at >= 0 && from <= end
    })
  }
}
