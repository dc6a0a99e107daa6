import type { AndOr, Command, CommandNode, Pipeline, PipelineNode, Redirection, Statement } from 'unbash'
import { maxCommandChars, parseShell } from './parse-shell.ts'
import { type PlainWord, plainWord } from './plain-word.ts'

/** A program and its arguments. */
export type PlainCommand = readonly [program: PlainWord, ...args: PlainWord[]]
/** What is joined by `|`. */
export type PlainPipeline = readonly PlainCommand[]
/** What is joined by `&&` and `||`. */
export type PlainStatement = readonly PlainPipeline[]

export type PlainScript =
  | { readonly ok: true; readonly statements: readonly PlainStatement[] }
  | { readonly ok: false; readonly because: string }

class NotPlain extends Error {}

// letters, digits, marks, punctuation, symbols and the plain space: no control and no invisible characters
const visible = /^[ \p{L}\p{N}\p{M}\p{P}\p{S}]*$/u
const separators = /^(?:[ ;!]|&&|\|&?|\|\|)*$/

/**
 * A command in which everything means itself, which is all that an allow rule may speak of: chains and pipes of plain
 * words. No substitution, assignment, background job, compound command, or redirect other than `2>&1` and `>/dev/null`.
 */
export function readPlainScript(text: string): PlainScript {
  if (text.length > maxCommandChars) return { ok: false, because: `it is longer than ${maxCommandChars} characters` }
  if (!visible.test(text)) return { ok: false, because: 'it has control or invisible characters' }
  const script = parseShell(text)
  if (script.errors?.length) return { ok: false, because: `it does not parse: ${script.errors[0]?.message}` }
  const seen: [number, number][] = []
  try {
    const statements = script.commands.map((each) => readStatement(each, seen))
    if (statements.length === 0) return { ok: false, because: 'it is empty' }
    // whatever the tree left out, comments for one, is nothing that it could vouch for
    if (!separators.test(without(text, seen))) return { ok: false, because: 'part of it is not in its syntax tree' }
    return { ok: true, statements }
  } catch (error) {
    if (error instanceof NotPlain) return { ok: false, because: error.message }
    throw error
  }
}

export const commandsOf = (statements: readonly PlainStatement[]): PlainCommand[] => statements.flat(2)

type Seen = [number, number][]

function readStatement({ command, background }: Statement, seen: Seen): PlainStatement {
  if (background === true) throw new NotPlain('it has a background job')
  const pipelines: readonly PipelineNode[] = command.type === 'AndOr' ? (command as AndOr).commands : [command]
  return pipelines.map((each) => readPipeline(each, seen))
}

function readPipeline(node: PipelineNode, seen: Seen): PlainPipeline {
  if (node.type !== 'Pipeline') return [readCommand(node as CommandNode, seen)]
  const { prefixes, commands } = node as Pipeline
  if (prefixes.some(({ type }) => type !== 'Negation')) throw new NotPlain('it has a prefix other than !')
  return commands.map((each) => readCommand(each, seen))
}

function readCommand(node: CommandNode, seen: Seen): PlainCommand {
  if (node.type !== 'Command') throw new NotPlain(`it has a compound command (${node.type})`)
  const { name, prefix, suffix } = node as Command
  if (name === undefined) throw new NotPlain('it has an assignment or a redirect without a command')
  const words: PlainWord[] = []
  for (const part of [...prefix, name, ...suffix]) {
    seen.push([part.pos, part.end])
    if (part.type === 'Assignment') throw new NotPlain('it has an assignment')
    if (part.type !== 'Word') {
      if (!isHarmless(part)) throw new NotPlain('it has a redirect other than 2>&1 and >/dev/null')
      continue
    }
    const word = plainWord(part)
    if (word === undefined) throw new NotPlain(`it has a word that the shell would expand: ${part.text.slice(0, 60)}`)
    words.push(word)
  }
  const [program, ...args] = words as [PlainWord, ...PlainWord[]]
  if (program.hasGlob || !/^[\w.+/@%:,[-]+$/.test(program.text)) throw new NotPlain('its program is not plain')
  return [program, ...args]
}

function isHarmless(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect') return false
  const { operator, descriptor, target } = redirect
  if (descriptor !== undefined && !(descriptor.type === 'FileDescriptor' && descriptor.value <= 2)) return false
  if (operator === '>&') return target?.text === '1' || target?.text === '2'
  return (operator === '>' || operator === '>>' || operator === '&>') && target?.text === '/dev/null'
}

function without(text: string, seen: Seen): string {
  let left = ''
  let from = 0
  for (const [start, end] of [...seen].sort((a, b) => a[0] - b[0])) {
    left += text.slice(from, start)
    from = Math.max(from, end)
  }
  return left + text.slice(from)
}
