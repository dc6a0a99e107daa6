import { SignalboxError } from 'signalbox'
import {
  type CommandOutcome,
  type CommandRequest,
  type Grace,
  type Isolation,
  type IsolationChoice,
  isolatedRunner,
  type ProcessRunner,
  type RunningCommand,
  shellEnvironment,
  startCommand,
  type WrapCommand,
} from 'signalbox/node'
import { isInside } from '../workspace/is-inside.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { gitEnvironment } from './git-environment.ts'

export interface ShellOptions {
  /** @default 'bash', found through the host's PATH */
  bash?: string | undefined
  /** Variables for the shell, added to the few it inherits from the host. */
  env?: Readonly<Record<string, string>> | undefined
  /** @default 120_000 */
  timeoutMs?: number | undefined
  /**
   * The longest timeout that a call may request.
   * @default 600_000
   */
  maxTimeoutMs?: number | undefined
  /**
   * How much of an output is kept: half from the beginning and half from the end.
   * @default 30_000
   */
  maxOutputChars?: number | undefined
  /**
   * A command that prints more than this is stopped.
   * @default 50_000_000
   */
  maxOutputBytes?: number | undefined
  /**
   * Milliseconds between TERM and KILL. Keep it below `abortGraceMs`.
   * @default 1_000
   */
  killGraceMs?: number | undefined
  /** Changes the program that is started for a command, such as to run it in a sandbox. */
  wrapCommand?: WrapCommand | undefined
  /**
   * How the processes of a command are isolated, so that none outlives it: in a PID namespace, or by process group.
   * `namespace` throws if the kernel does not allow one.
   * @default 'auto': a namespace if the kernel allows it
   */
  isolation?: IsolationChoice | undefined
  /** @default the processes of this machine */
  processRunner?: ProcessRunner | undefined
}

/** A shell: its current folder and what runs in it. */
export interface Shell {
  readonly cwd: string
  readonly runner: ProcessRunner
  /** Undefined if you pass your own runner. */
  readonly isolation: Isolation | undefined
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  run(
    command: string,
    how: {
      timeoutMs: number
      signal: AbortSignal
      isHarmless?: boolean
      /** It does not keep the process alive. */
      isBackground?: boolean
      onOutput(text: string): void
    },
  ): Promise<ShellOutcome>
  /** Commands that run in the background now. */
  readonly backgroundCommands: readonly string[]
  /** Stops everything that still runs. */
  close(): Promise<void>
}

export interface ShellOutcome extends CommandOutcome {
  /** The folder in which the next command starts. */
  readonly nextCwd: string
  /** The command left the workspace, and the folder was reset. */
  readonly wasBroughtBack: boolean
}

const drainMs = 500

export function createShell(workspace: Workspace, options: ShellOptions = {}): Shell {
  const { bash = 'bash', timeoutMs = 120_000, maxTimeoutMs = 600_000 } = options
  if (options.processRunner !== undefined && options.isolation !== undefined) {
    throw new SignalboxError(
      'invalid_option',
      'Option isolation cannot be combined with processRunner: it applies to local processes only. Remove one of them.',
    )
  }
  const runner = options.processRunner ?? isolatedRunner(options.isolation)
  const grace: Grace = { termMs: options.killGraceMs ?? 1_000, drainMs }
  const inBackground = new Map<RunningCommand, string>()
  const live = new Set<RunningCommand>()
  let cwd = workspace.root

  const start = (
    command: string,
    more: Pick<CommandRequest, 'timeoutMs' | 'onOutput' | 'isBackground'>,
    isHarmless = false,
  ): RunningCommand => {
    const env = shellEnvironment(process.env, options.env)
    const running = startCommand({
      command,
      cwd,
      env: isHarmless ? { ...env, ...gitEnvironment, PATH: pathOutside(env.PATH, workspace.roots) } : env,
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
    async run(command, { timeoutMs: limit, signal, isHarmless, isBackground = false, onOutput }) {
      if (!(await isUsable(cwd))) cwd = workspace.root
      const from = cwd
      const running = start(command, { timeoutMs: limit, onOutput, isBackground }, isHarmless)
      if (isBackground) inBackground.set(running, command)
      const stop = (): void => running.stop()
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop, { once: true })
      try {
        const outcome = await running.finished
        const isInside = outcome.cwd === undefined || (await isUsable(outcome.cwd))
        const to = isInside ? (outcome.cwd ?? from) : workspace.root
        // a command that did not move must not undo the move of another one
        if (to !== from && !isBackground) cwd = to
        return { ...outcome, nextCwd: cwd, wasBroughtBack: !isInside }
      } finally {
        inBackground.delete(running)
        signal.removeEventListener('abort', stop)
      }
    },
    get backgroundCommands() {
      return [...inBackground.values()]
    },
    async close() {
      const left = [...live]
      for (const running of left) running.stop()
      await Promise.all(left.map(({ finished }) => finished))
    },
  }
}

/** Programs inside the workspace are excluded: a model may have written them. */
function pathOutside(path: string | undefined, roots: readonly string[]): string {
  const folders = (path ?? '').split(':').filter((folder) => !roots.some((root) => isInside(root, folder)))
  return folders.join(':') || '/usr/bin:/bin'
}
