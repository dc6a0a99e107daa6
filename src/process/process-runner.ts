/** A program to run, with its arguments and environment. */
export interface ProcessRequest {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Gives the program a stdin to read from; otherwise stdin is empty. */
  readonly hasInput?: boolean | undefined
}

export type ProcessExit =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'notStarted'; readonly error: unknown }

/** A running program in its own process group. */
export interface RunningProcess {
  /** Resolves when the program itself has ended, even if its output is still held open. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** Resolves when no process holds the output any more. */
  readonly closed: Promise<void>
  /** Resolves when the program can take more; rejects when its stdin is closed. Only with `hasInput`. */
  write?(text: string): Promise<void>
  /** Closes the program's stdin. */
  endInput?(): void
  /** Resolves when no process of the program is left; only from a runner that can know. */
  readonly gone?: Promise<void> | undefined
  /** Signals every process of the group; if the runner has `gone`, everything that the program started. */
  signalGroup(signal: 'SIGTERM' | 'SIGKILL'): void
  /** Lets this process end while the program still runs. */
  unref(): void
  /** Stops reading the output. */
  release(): void
}

export interface ProcessListener {
  /** Called with all output as it arrives, stdout and stderr. */
  onOutput(bytes: Uint8Array): void
  /** If present, called with stderr, and `onOutput` gets only stdout. */
  onErrorOutput?(bytes: Uint8Array): void
  /** Called with output on file descriptor 3. */
  onNote?(bytes: Uint8Array): void
}

/** How processes are kept together: by a namespace of the kernel, or by their group and a mark. */
export type Isolation = 'namespace' | 'group'

/** Starts and signals processes. */
export interface ProcessRunner {
  /** Undefined for a runner with its own kind of isolation. */
  readonly isolation?: Isolation | undefined
  start(request: ProcessRequest, listener: ProcessListener): RunningProcess
  /** Finds processes that have this variable in their environment: they may have left their group. */
  findMarked(marker: string): Promise<number[]>
  signal(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void
}
