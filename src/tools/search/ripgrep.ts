import { isAbsolute } from 'node:path'
import { findProgram } from '../../shell/find-program.ts'
import type { ProcessRunner } from '../../shell/process-runner.ts'
import { shellEnvironment } from '../../shell/shell-environment.ts'
import { toolError } from '../../workspace/tool-error.ts'

/** Where ripgrep is, if it is anywhere. */
export function findRipgrep(): string | undefined {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => isAbsolute(folder))
  return folders.length === 0 ? undefined : findProgram('rg', folders.join(':'))
}

const maxSaid = 1_000

export interface RipgrepRun {
  readonly path: string
  readonly args: readonly string[]
  readonly folder: string
  readonly runner: ProcessRunner
  readonly signal: AbortSignal
  readonly maxBytes: number
}

export interface RipgrepOutput {
  readonly text: string
  readonly isCut: boolean
  /** Why it could not search at all; files that it cannot read are passed over. */
  readonly problem: string | undefined
}

/** The same files for everybody: no settings of the user's, nothing from above the workspace. */
const always = [
  '--no-config',
  '--no-messages',
  '--hidden',
  '--no-require-git',
  '--no-ignore-global',
  '--no-ignore-exclude',
  '--no-ignore-parent',
  '--color=never',
  '--glob=!.git',
]

export async function runRipgrep({ path, args, folder, runner, signal, maxBytes }: RipgrepRun): Promise<RipgrepOutput> {
  signal.throwIfAborted()
  const chunks: Uint8Array[] = []
  let bytes = 0
  let said = ''
  let stop = (): void => undefined
  const running = runner.start(
    { file: path, args: [...always, ...args, '.'], cwd: folder, env: shellEnvironment(process.env) },
    {
      onOutput(chunk) {
        if (bytes > maxBytes) return stop()
        bytes += chunk.length
        chunks.push(chunk)
      },
      onErrorOutput(chunk) {
        if (said.length < maxSaid) said += Buffer.from(chunk).toString('utf8')
      },
    },
  )
  stop = () => running.signalGroup('SIGKILL')
  signal.addEventListener('abort', stop, { once: true })
  const exit = await running.exited
  if (exit.kind === 'exited') await running.closed
  running.release()
  signal.removeEventListener('abort', stop)
  signal.throwIfAborted()
  if (exit.kind === 'notStarted') throw toolError(`ripgrep could not be started at ${path}.`, 'NotStarted')
  const problem = exit.code === 2 && said !== '' ? said.trim().slice(0, maxSaid) : undefined
  return { text: Buffer.concat(chunks).toString('utf8'), isCut: bytes > maxBytes, problem }
}
