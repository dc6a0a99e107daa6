import { z } from 'zod'
import { parseRule } from '../permission/permission-rule.ts'
import { isBenignExit } from '../shell/benign-exit.ts'
import { isReadOnlyCommand } from '../shell/read-only-command.ts'
import { withoutRedundantCd } from '../shell/redundant-cd.ts'
import type { Shell, ShellOutcome } from '../shell/shell.ts'
import { allowsCommand, concernsCommand } from '../shell/shell-rule.ts'
import { defineTool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { toolError } from '../workspace/tool-error.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { bashText } from './bash-text.ts'

export type BashData =
  | ({ type: 'finished'; isError: boolean } & Omit<ShellOutcome, 'cwd'>)
  | { type: 'background'; id: string; command: string }

const inputSchema = z.object({
  command: z.string().describe('The command, for bash'),
  timeout: z.number().int().min(1).optional().describe('How long it may take, in milliseconds'),
  description: z.string().optional().describe('What it does, in a few words'),
  run_in_background: z.boolean().optional().describe('Let it run on, and look at its output later with BashOutput'),
})
type BashInput = z.output<typeof inputSchema>

const maxCommand = 100_000
/** A flood is not for watching. */
const maxShownChars = 1_000_000

/** Runs commands in bash. */
export function bashTool({ root, fileSystem }: Workspace, shell: Shell): Tool<typeof inputSchema, BashData> {
  // not for the class, which is asked for on arrival: calls before this one may still move the shell
  const withoutCdHere = (command: string): string => withoutRedundantCd(command, shell.cwd, fileSystem.realpathSync)
  const onlyReads = (command: string, { run_in_background }: BashInput): boolean =>
    run_in_background !== true && isReadOnlyCommand(command)
  return defineTool({
    name: 'Bash',
    description: `Runs a command in bash and gives back what it printed. The working directory is kept between calls and begins at ${root}; variables are not kept. Nothing can be typed in, and processes that are left over are ended: for those that shall go on, set run_in_background. Commands that only read run side by side, but any with a cd runs alone: leave out a cd to where the shell already is. A command may not see the processes of another one; BashStop ends those in the background.`,
    inputSchema,
    // whatever has a cd may move the shell, which the calls beside it would notice
    isConcurrencySafe: (input) => onlyReads(input.command.trim(), input),
    isReadOnly: (input) => onlyReads(withoutCdHere(input.command), input),
    // a benign exit is no error, so whatever is one counts; a result without a form does not
    cancelsSiblingsOnError: ({ kind }) => kind !== 'unformattable',
    normalizeInput: (input) => ({ ...input, command: input.command.trim() }),
    validateInput({ command }) {
      if (command.trim() === '') return { result: false, message: 'The command is empty.' }
      if (command.includes('\0')) return { result: false, message: 'A command cannot hold a NUL character.' }
      if (command.length <= maxCommand) return { result: true }
      return { result: false, message: `The command is longer than ${maxCommand} characters. Write a script first.` }
    },
    matchesRule: (spec, { command }, context, behavior) =>
      behavior === 'allow'
        ? allowsCommand(spec, withoutCdHere(command), allowSpecs(context))
        : concernsCommand(spec, command),
    async call({ command, timeout, run_in_background }, { abortController }, _ask, _message, onProgress) {
      if (run_in_background === true) {
        const run = await shell.startBackground(command)
        if (run !== undefined) return { data: { type: 'background', id: run.id, command } as BashData }
        throw toolError('Too many background runs at once. Stop one with BashStop first.', 'TooMany')
      }
      const essence = withoutCdHere(command)
      let shown = 0
      const outcome = await shell.run(command, {
        timeoutMs: Math.min(timeout ?? shell.timeoutMs, shell.maxTimeoutMs),
        signal: abortController.signal,
        onOutput: (text) => {
          shown += text.length
          if (text !== '' && shown <= maxShownChars) onProgress({ data: { type: 'bash_output', text } })
        },
      })
      if (outcome.endedBy === 'notStarted') throw toolError(`bash could not be started: ${outcome.error}`, 'NotStarted')
      const { cwd: _, ...rest } = outcome
      const isBenign = outcome.exitCode === 0 || isBenignExit(essence, outcome.exitCode)
      return { data: { type: 'finished', isError: outcome.endedBy !== 'itself' || !isBenign, ...rest } as BashData }
    },
    mapResult: (data, id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: bashText(data),
      ...(data.type === 'finished' && data.isError && { is_error: true }),
    }),
  })
}

/** A chain may be covered by several rules, each of which allows a part of it. */
function allowSpecs({ permissions }: ToolUseContext): string[] {
  return (permissions?.allow ?? [])
    .map((rule) => parseRule(rule))
    .flatMap(({ toolName, spec }) => (toolName === 'Bash' && spec !== undefined ? [spec] : []))
}
