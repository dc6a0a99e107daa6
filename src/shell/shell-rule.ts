import { everyCommand, type SeenCommand } from './every-command.ts'
import { commandsOf, type PlainCommand, readPlainScript } from './plain-script.ts'
import { isGuarded, judgeCall, nameOf, runsOthers } from './programs.ts'

/** A rule such as `npm test`, `npm run *` or `git push:*`, as the words that a command must have. */
interface ShellRule {
  readonly words: readonly string[]
  /** More words may follow. */
  readonly isOpen: boolean
  readonly hasWildcard: boolean
}

const maxDepth = 4

/**
 * Whether rules allow a command: each command of the chain must be covered by one of them, and at least one by the
 * first. What is not plain, and programs that run or write by their arguments, no wildcard covers.
 */
export function allowsCommand(spec: string, command: string, others: readonly string[] = []): boolean {
  const script = readPlainScript(command)
  if (!script.ok) return false
  const own = readRule(spec)
  const rest = others.map(readRule)
  const commands = commandsOf(script.statements)
  return (
    commands.some((each) => covers(own, each)) &&
    commands.every((each) => covers(own, each) || rest.some((rule) => covers(rule, each)))
  )
}

/** Whether a rule that denies or asks speaks of a command: of any part of it, and of all that cannot be read. */
export function concernsCommand(spec: string, command: string): boolean {
  return mayBe(readRule(spec), command, 0)
}

function readRule(spec: string): ShellRule {
  const text = spec.trim().replace(/:\*$/, ' *')
  const script = readPlainScript(text)
  const [only, ...more] = script.ok ? commandsOf(script.statements) : []
  const words = only !== undefined && more.length === 0 ? only.map((word) => word.text) : text.split(/\s+/)
  const isOpen = words.at(-1) === '*'
  return { words: isOpen ? words.slice(0, -1) : words, isOpen, hasWildcard: words.some((word) => word.includes('*')) }
}

function covers({ words, isOpen, hasWildcard }: ShellRule, command: PlainCommand): boolean {
  if (isOpen ? command.length < words.length : command.length !== words.length) return false
  if (!words.every((word, index) => fits(word, command[index]?.text))) return false
  // spelled out word by word, it is what somebody agreed to; unless the shell makes other words of it
  if (!hasWildcard) return command.every(({ hasGlob }) => !hasGlob)
  const [program] = command
  // a rule that does not name its program cannot vouch for one that is called by a path
  if (words.length === 0 && program.text.includes('/')) return false
  return judgeCall(command) !== 'mayDoAnything'
}

function mayBe(rule: ShellRule, text: string, depth: number): boolean {
  const commands = everyCommand(text)
  if (commands === undefined || depth > maxDepth) return true
  return commands.some(
    (command) => starts(command).some((at) => mayStandAt(rule, command, at)) || hidden(rule, command, depth),
  )
}

/** Where a command may begin: programs that run others have another one among their words. */
function starts(command: SeenCommand): number[] {
  const [program] = command
  const runs = program === undefined || runsOthers(program) || isGuarded(program)
  return runs ? command.map((_, index) => index) : [0]
}

function mayStandAt({ words }: ShellRule, command: SeenCommand, at: number): boolean {
  const [program, ...rest] = words
  if (program === undefined) return true
  const found = command[at]
  if (found !== undefined && !fits(program.toLowerCase(), nameOf(found).toLowerCase()) && !fits(program, found))
    return false
  // options may stand between the words of a rule, so it is enough that they come in this order
  let from = at + 1
  return rest.every((word) => {
    const next = command.findIndex((each, index) => index >= from && (each === undefined || fits(word, each)))
    from = next + 1
    return next >= 0
  })
}

/** `bash -c 'rm x'`: the text of a command as a word of another. */
function hidden(rule: ShellRule, command: SeenCommand, depth: number): boolean {
  const [program] = command
  if (program === undefined || !(runsOthers(program) || isGuarded(program))) return false
  return command.slice(1).some((word) => word !== undefined && /[\s;&|`$(]/.test(word) && mayBe(rule, word, depth + 1))
}

function fits(pattern: string, word: string | undefined): boolean {
  if (word === undefined) return false
  if (!pattern.includes('*')) return pattern === word
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop() ?? ''
  if (!word.startsWith(first) || word.length < first.length + last.length || !word.endsWith(last)) return false
  let from = first.length
  const end = word.length - last.length
  return parts.every((part) => {
    const at = word.indexOf(part, from)
    from = at + part.length
    return at >= 0 && from <= end
  })
}
