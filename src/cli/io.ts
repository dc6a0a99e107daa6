import process from 'node:process'

/** Where the command line reads and writes; a test gives its own. */
export interface Io {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
  /** Listens to SIGINT and SIGTERM in place of what they do by themselves. Returns how to stop. */
  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM') => void): () => void
  /** Ends the process at once. */
  exit(code: number): void
}

export const processIo: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  exit: (code) => process.exit(code),
  onSignal(listener) {
    const listeners = (['SIGINT', 'SIGTERM'] as const).map((signal) => {
      const hear = () => listener(signal)
      process.on(signal, hear)
      return () => process.off(signal, hear)
    })
    return () => {
      for (const stop of listeners) stop()
    }
  },
}

/** Resolves at the first signal. */
export function untilStopped(io: Io): Promise<void> {
  return new Promise((resolve) => {
    const stop = io.onSignal(() => {
      stop()
      resolve()
    })
  })
}
