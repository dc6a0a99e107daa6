import { SignalboxError } from '../errors/signalbox-error.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Grace } from './end-process.ts'
import { type IsolationChoice, isolatedRunner } from './isolation.ts'
import { assertParser } from './parse-shell.ts'
import type { Isolation, ProcessRunner } from './process-runner.ts'
import {
  type CommandOutcome,
  type CommandRequest,
  type RunningCommand,
  startCommand,
  type WrapCommand,
} from './run-command.ts'
import { shellEnvironment } from './shell-environment.ts'

export interface ShellOptions {
  /** @default 'bash', as the PATH of the host finds it */
  bash?: string | undefined
  /** Variables for the shell, besides the few of the host's that it gets. */
  env?: Readonly<Record<string, string>> | undefined
  /** @default 120_000 */
  timeoutMs?: number | undefined
  /**
   * The longest that a call may ask for.
   * @default 600_000
   */
  maxTimeoutMs?: number | undefined
  /**
   * How much of an output is kept, half of it from the beginning and half from the end.
   * @default 30_000
   */
  maxOutputChars?: number | undefined
  /**
   * A command that prints more than this is ended.
   * @default 50_000_000
   */
  maxOutputBytes?: number | undefined
  /**
   * How long processes have between TERM and KILL, in milliseconds. Keep it below `abortGraceMs`.
   * @default 1_000
   */
  killGraceMs?: number | undefined
  /**
   * How many background runs there may be at once.
   * @default 10
   */
  maxBackgroundRuns?: number | undefined
  /** Changes what is run for a command, such as into the same in a sandbox. */
  wrapCommand?: WrapCommand | undefined
  /**
   * How the processes of a command are kept together, so that none outlives it: in a PID namespace of its own, or by
   * their group. `namespace` throws where there can be none.
   * @default 'auto', which is a namespace wherever the kernel allows it
   */
  isolation?: IsolationChoice | undefined
  /** @default the processes of this machine */
  processRunner?: ProcessRunner | undefined
}

export interface BackgroundRun {
  readonly id: string
  readonly command: string
  readonly running: RunningCommand
  /** Undefined while it runs. */
  outcome: CommandOutcome | undefined
}

/** One shell: where it is, and what runs in its background. */
export interface Shell {
  readonly cwd: string
  readonly runner: ProcessRunner
  /** Undefined for a runner of your own. */
  readonly isolation: Isolation | undefined
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  run(
    command: string,
    how: { timeoutMs: number; signal: AbortSignal; onOutput(text: string): void },
  ): Promise<ShellOutcome>
  startBackground(command: string): Promise<BackgroundRun | undefined>
  background(id: string): BackgroundRun | undefined
  backgroundIds(): string[]
  /** Ends what still runs. */
  close(): Promise<void>
}

export interface ShellOutcome extends CommandOutcome {
  /** Where the next command starts. */
  readonly nextCwd: string
  /** The shell had left the workspace, and was brought back. */
  readonly wasBroughtBack: boolean
}

const drainMs = 500
const maxFinished = 50
const never = 2 ** 31 - 1

export function createShell(workspace: Workspace, options: ShellOptions = {}): Shell {
  assertParser()
  const { bash = 'bash', timeoutMs = 120_000, maxTimeoutMs = 600_000, maxBackgroundRuns = 10 } = options
  if (options.processRunner !== undefined && options.isolation !== undefined) {
    throw new SignalboxError('invalid_option', 'isolation is for the processes of this machine, not for processRunner.')
  }
  const runner = options.processRunner ?? isolatedRunner(options.isolation)
  const grace: Grace = { termMs: options.killGraceMs ?? 1_000, drainMs }
  const runs = new Map<string, BackgroundRun>()
  const live = new Set<RunningCommand>()
  let cwd = workspace.root
  let count = 0

  const start = (
    command: string,
    more: Pick<CommandRequest, 'timeoutMs' | 'onOutput' | 'isBackground'>,
  ): RunningCommand => {
    const running = startCommand({
      command,
      cwd,
      env: shellEnvironment(process.env, options.env),
      bash,
      maxOutputChars: options.maxOutputChars ?? 30_000,
      maxOutputBytes: options.maxOutputBytes ?? 50_000_000,
      grace,
      runner,
      wrapCommand: options.wrapCommand,
      ...more,
    })
    live.add(running)
    running.finished.finally(() => live.delete(running))
    return running
  }

  const isUsable = async (path: string | undefined): Promise<boolean> => {
    if (path === undefined) return false
    const place = await workspace.resolve(path)
    return place.ok && place.exists && place.path === path
  }

  return {
    get cwd() {
      return cwd
    },
    runner,
    get isolation() {
      return runner.isolation
    },
    timeoutMs,
    maxTimeoutMs,
    async run(command, { timeoutMs: limit, signal, onOutput }) {
      if (!(await isUsable(cwd))) cwd = workspace.root
      const from = cwd
      const running = start(command, { timeoutMs: limit, onOutput })
      const stop = (): void => running.stop()
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop, { once: true })
      try {
        const outcome = await running.finished
        const isInside = outcome.cwd === undefined || (await isUsable(outcome.cwd))
        const to = isInside ? (outcome.cwd ?? from) : workspace.root
        // who stayed where it was must not take back another one, which may have moved the shell since
        if (to !== from) cwd = to
        return { ...outcome, nextCwd: cwd, wasBroughtBack: !isInside }
      } finally {
        signal.removeEventListener('abort', stop)
      }
    },
    async startBackground(command) {
      const busy = [...runs.values()].filter(({ outcome }) => outcome === undefined)
      if (busy.length >= maxBackgroundRuns) return undefined
      if (!(await isUsable(cwd))) cwd = workspace.root
      const run: BackgroundRun = {
        id: `bash_${++count}`,
        command,
        running: start(command, { timeoutMs: never, isBackground: true }),
        outcome: undefined,
      }
      runs.set(run.id, run)
      run.running.finished.then((outcome) => {
        run.outcome = outcome
        forgetOldest(runs)
      })
      return run
    },
    background: (id) => runs.get(id),
    backgroundIds: () => [...runs.keys()],
    async close() {
      const left = [...live]
      for (const running of left) running.stop()
      await Promise.all(left.map(({ finished }) => finished))
    },
  }
}

function forgetOldest(runs: Map<string, BackgroundRun>): void {
  const finished = [...runs.values()].filter(({ outcome }) => outcome !== undefined)
  for (const { id } of finished.slice(0, Math.max(0, finished.length - maxFinished))) runs.delete(id)
}
