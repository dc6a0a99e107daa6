/** A program to run, as it is handed to the operating system. */
export interface ProcessRequest {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Something will be written to it; without this it has nothing to read from. */
  readonly hasInput?: boolean | undefined
}

export type ProcessExit =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'notStarted'; readonly error: unknown }

/** A program that runs, in a process group of its own. */
export interface RunningProcess {
  /** When the program itself has ended, whoever still holds its output. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** When nobody holds its output any more. */
  readonly closed: Promise<void>
  /** Resolves when the program can take more; rejects when it takes nothing any more. Only with `hasInput`. */
  write?(text: string): Promise<void>
  /** There will be nothing more to read. */
  endInput?(): void
  /** When nothing that it has started runs any more; only from a runner that can know. */
  readonly gone?: Promise<void> | undefined
  /** To every process of its group; where there is `gone`, to everything that it has started. */
  signalGroup(signal: 'SIGTERM' | 'SIGKILL'): void
  /** Lets this process end while it still runs. */
  unref(): void
  /** Lets go of its output. */
  release(): void
}

export interface ProcessListener {
  /** What it prints, on either channel, as it comes. */
  onOutput(bytes: Uint8Array): void
  /** What it prints on the channel for errors, where that is wanted apart. */
  onErrorOutput?(bytes: Uint8Array): void
  /** What it says on channel 3. */
  onNote?(bytes: Uint8Array): void
}

/** How processes are kept together: by the kernel, or by their group and a mark. */
export type Isolation = 'namespace' | 'group'

/** All that the shell asks of an operating system. */
export interface ProcessRunner {
  /** Undefined for a runner that has its own way. */
  readonly isolation?: Isolation | undefined
  start(request: ProcessRequest, listener: ProcessListener): RunningProcess
  /** Processes that have this among the variables they were started with: they may have left their group. */
  findMarked(marker: string): Promise<number[]>
  signal(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void
}
