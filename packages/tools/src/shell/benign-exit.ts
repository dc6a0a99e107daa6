import type { AndOr, Command, CommandNode, Pipeline, PipelineNode } from 'unbash'
import { parseShell } from './parse-shell.ts'
import { nameOf } from './programs-run.ts'

/** Programs whose exit code 1 is an answer: no match, a difference, "no". */
const answering = new Set('grep egrep fgrep zgrep rg ag ack diff cmp comm test [ pgrep which type expr'.split(' '))
/** Programs that never fail, so a failure is not theirs. */
const steady = new Set('echo printf true : pwd'.split(' '))

/** Whether a non-zero exit code is an answer and not a failure. */
export function isBenignExit(command: string, exitCode: number | undefined): boolean {
  if (exitCode !== 1) return false
  const script = parseShell(command)
  if (script === undefined || script.errors?.length) return false
  const last = script.commands.at(-1)?.command
  if (last === undefined) return false
  // any part of a chain may have set the exit code
  const parts: readonly PipelineNode[] = last.type === 'AndOr' ? (last as AndOr).commands : [last]
  const kinds = parts.map(kindOf)
  return kinds.includes('answers') && !kinds.includes('fails')
}

function kindOf(node: PipelineNode): 'answers' | 'steady' | 'fails' {
  const last = node.type === 'Pipeline' ? (node as Pipeline).commands.at(-1) : (node as CommandNode)
  if (last?.type === 'TestCommand') return 'answers'
  if (last?.type !== 'Command') return 'fails'
  const { name, args } = last as Command
  const program = nameOf(name?.value ?? '')
  const isGitAnswer = program === 'git' && args[0]?.type === 'Word' && ['diff', 'grep'].includes(args[0].value)
  if (isGitAnswer || answering.has(program)) return 'answers'
  return steady.has(program) ? 'steady' : 'fails'
}
