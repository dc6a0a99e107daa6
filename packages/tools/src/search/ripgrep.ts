import { isAbsolute } from 'node:path'
import { toolError } from 'signalbox'
import { findProgram, type ProcessRunner, type RunningProcess, shellEnvironment } from 'signalbox/node'

/** The path of ripgrep, if it is installed. */
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
  /** A text to search instead of the folder. */
  readonly input?: string | undefined
}

export interface RipgrepOutput {
  readonly text: string
  readonly isCut: boolean
  /** The signal ended the search; `text` is what ripgrep had printed until then. */
  readonly isStopped: boolean
  /** Why the whole search failed; unreadable files are skipped. */
  readonly problem: string | undefined
}

/** Same results for everyone: no user configuration, no ignore files from above the workspace. */
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

export async function runRipgrep(run: RipgrepRun): Promise<RipgrepOutput> {
  const { path, args, folder, runner, signal, maxBytes, input } = run
  if (signal.aborted) return { text: '', isCut: false, isStopped: true, problem: undefined }
  const chunks: Uint8Array[] = []
  let bytes = 0
  let said = ''
  let stop = (): void => undefined
  const running = runner.start(
    {
      file: path,
      args: [...always, ...args, input === undefined ? '.' : '-'],
      cwd: folder,
      env: shellEnvironment(process.env),
      hasInput: input !== undefined,
    },
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
  if (input !== undefined) await feed(running, input)
  const exit = await running.exited
  if (exit.kind === 'exited') await running.closed
  running.release()
  signal.removeEventListener('abort', stop)
  if (exit.kind === 'notStarted') throw toolError(`ripgrep could not be started at ${path}.`, 'NotStarted')
  // a search that ended by itself just before is complete
  const isStopped = signal.aborted && exit.code === null
  const problem = exit.code === 2 && said !== '' ? said.trim().slice(0, maxSaid) : undefined
  return { text: Buffer.concat(chunks).toString('utf8'), isCut: bytes > maxBytes, isStopped, problem }
}

/** The caller may stop reading before the end. */
async function feed(running: RunningProcess, text: string): Promise<void> {
  await running.write?.(text).catch(() => undefined)
  running.endInput?.()
}
