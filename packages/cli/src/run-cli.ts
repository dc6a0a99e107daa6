import { Command, CommanderError } from 'commander'
import { isSignalboxError, visibleLine } from 'signalbox'
import { checkCommand } from './check/check-command.ts'
import { demoCommand } from './demo/demo-command.ts'
import { exitCode, exitCodesHelp } from './exit-code.ts'
import { inspectCommand } from './inspect/inspect-command.ts'
import type { Io } from './io.ts'
import { mcpServeCommand } from './mcp-serve/mcp-serve-command.ts'
import { replayCommand } from './replay/replay-command.ts'
import { resumeCommand, runCommand } from './run/run-command.ts'
import { answerCommand } from './sessions/answer-command.ts'
import { sessionsCommand } from './sessions/sessions-command.ts'
import { version } from './version.ts'
import { workerCommand } from './worker/worker-command.ts'

const commands = [
  ...[runCommand, sessionsCommand, answerCommand, resumeCommand],
  ...[checkCommand, replayCommand, inspectCommand, mcpServeCommand, workerCommand, demoCommand],
]

/** Sets the exit code. */
export type Finish = (code: number) => void

/** Runs the command line. Returns the exit code. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  let code: number = exitCode.done
  const finish: Finish = (given) => {
    code = given
  }
  const program = new Command('signalbox')
    .description("Runs a language model's tool calls while it is still streaming, and shows what they do.")
    .version(version)
    .helpCommand(false)
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
    .exitOverride()
    .showSuggestionAfterError()
    .addHelpText('after', exitCodesHelp)
  for (const command of commands) {
    const made = command(io, finish)
    made.copyInheritedSettings(program)
    made.showHelpAfterError(`(see signalbox ${made.name()} --help)`)
    program.addCommand(made)
  }
  program.showHelpAfterError('(see signalbox --help)')
  if (args.length === 0) {
    program.outputHelp()
    return exitCode.done
  }
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    return failure(error, io)
  }
}

function failure(error: unknown, { stderr }: Io): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.badUsage
  if (isSignalboxError(error)) {
    // it may quote a file
    stderr.write(`signalbox: ${error.message.split('\n').map(visibleLine).join('\n')}\n`)
    return exitCode.badUsage
  }
  stderr.write(`signalbox: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  return exitCode.failed
}
