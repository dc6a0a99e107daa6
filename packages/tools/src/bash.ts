import { backgroundOf, defineTool, type Tool, type ToolCallContext, toolError } from 'signalbox'
import { z } from 'zod'
import { BashPermission } from './bash-permission.ts'
import { bashText } from './bash-text.ts'
import { isBenignExit } from './shell/benign-exit.ts'
import { exactShellRule } from './shell/exact-rule.ts'
import { withoutRedundantCd } from './shell/redundant-cd.ts'
import { shellRuleProblem } from './shell/rule-problem.ts'
import type { Shell, ShellOutcome } from './shell/shell.ts'
import { isReadOnlyCommand, unaskedConditions } from './shell/shell-rule.ts'
import type { Workspace } from './workspace/workspace.ts'

export type BashData = { isError: boolean } & Omit<ShellOutcome, 'cwd'>

const inputSchema = z.object({
  command: z.string().describe('The bash command to run'),
  timeout: z.number().int().min(1).optional().describe('Timeout in milliseconds'),
  description: z.string().optional().describe('What the command does, in a few words'),
  run_in_background: z
    .boolean()
    .optional()
    .describe(
      'Run in the background, for commands that do not end by themselves; read the output with BackgroundOutput',
    ),
})
type BashInput = z.output<typeof inputSchema>

const maxCommand = 100_000
/** Progress stops after this much output. */
const maxShownChars = 1_000_000

/** The longest time that timers support: a server runs until it is stopped. */
const never = 2 ** 31 - 1

/** A command such as a server never ends by itself, so no query waits for it. */
const inBackground = {
  awaited: false,
  note: 'Use BackgroundOutput to read its output and BackgroundStop to stop it.',
}

const noRoom = (context: ToolCallContext): string =>
  backgroundOf(context) === undefined
    ? 'nothing can run in the background here. Run it without run_in_background.'
    : 'too many calls run in the background. Stop one with BackgroundStop first.'

/** Runs commands in bash. */
export function bashTool(workspace: Workspace, shell: Shell): Tool<typeof inputSchema, BashData> {
  const { root, fileSystem } = workspace
  const permission = new BashPermission(workspace, () => shell.cwd)
  // a remote file system cannot resolve links synchronously; then only the shell's exact path matches
  const realpathSync = fileSystem.realpathSync ?? ((path: string) => path)
  // not used for the concurrency class, which is decided on arrival: earlier calls may still move the shell
  const withoutCdHere = (command: string): string => withoutRedundantCd(command, shell.cwd, realpathSync)
  const onlyReads = (command: string, { run_in_background }: BashInput): boolean =>
    run_in_background !== true && isReadOnlyCommand(command)
  return defineTool({
    name: 'Bash',
    description: `Runs a command in bash and returns its output. The working directory persists between calls and starts at ${root}; variables do not persist. Standard input is empty. Processes that the command leaves running are stopped; to keep one running, set run_in_background. Read-only commands run in parallel, but a command with a cd runs alone: omit a cd to the current directory. Commands may not see each other's processes; use BackgroundStop to stop background commands.`,
    inputSchema,
    // a cd may move the shell under the calls beside it
    isConcurrencySafe: (input) => onlyReads(input.command.trim(), input),
    isReadOnly: (input) => onlyReads(withoutCdHere(input.command), input),
    // a command with effects may depend on an earlier one; a read depends on nothing, and nothing depends on it
    cancelsSiblingsOnError: ({ kind, isReadOnly }, sibling) =>
      kind !== 'unformattable' && !isReadOnly && sibling.name === 'Bash' && !sibling.isReadOnly,
    normalizeInput: (input) => ({ ...input, command: input.command.trim() }),
    validateInput({ command }) {
      if (command.trim() === '') return { result: false, message: 'The command is empty.' }
      if (command.includes('\0')) return { result: false, message: 'The command contains a NUL character. Remove it.' }
      if (command.length <= maxCommand) return { result: true }
      return {
        result: false,
        message: `The command is longer than ${maxCommand} characters. Write it to a script file and run that.`,
      }
    },
    matchesRule: (spec, { command }, context, behavior) =>
      permission.matchesRule(spec, command, withoutCdHere(command), context, behavior),
    exactRule: ({ command }) => exactShellRule(command),
    checkRule: shellRuleProblem,
    checkPermissions: async ({ command, run_in_background }, context) =>
      run_in_background === true ? undefined : permission.checkPermissions(withoutCdHere(command), context),
    async call({ command, timeout, run_in_background }, context, _ask, _message, onProgress) {
      const isBackground = run_in_background === true
      if (isBackground && context.detach?.(inBackground) !== true) {
        throw toolError(`The command did not run: ${noRoom(context)}`, 'NoBackground')
      }
      const essence = withoutCdHere(command)
      let shown = 0
      const outcome = await shell.run(command, {
        timeoutMs: isBackground ? never : Math.min(timeout ?? shell.timeoutMs, shell.maxTimeoutMs),
        signal: context.abortController.signal,
        isBackground,
        // even with permission, a read-only command starts no program that a repository names
        isHarmless: unaskedConditions(command) !== undefined,
        onOutput: (text) => {
          shown += text.length
          if (text !== '' && shown <= maxShownChars) onProgress({ data: { type: 'bash_output', text } })
        },
      })
      if (outcome.endedBy === 'notStarted') throw toolError(`bash could not be started: ${outcome.error}`, 'NotStarted')
      const { cwd: _, ...rest } = outcome
      const isBenign = outcome.exitCode === 0 || isBenignExit(essence, outcome.exitCode)
      const interrupted = outcome.endedBy !== 'itself'
      return { data: { isError: interrupted || !isBenign, ...rest } as BashData, interrupted }
    },
    mapResult: (data, id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: bashText(data),
      ...(data.isError && { is_error: true }),
    }),
  })
}
