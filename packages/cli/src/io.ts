import process from 'node:process'

/** The streams and signals of the command line; tests pass their own. */
export interface Io {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
  /** Handles SIGINT and SIGTERM instead of their default action. Returns a function that removes the handler. */
  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM') => void): () => void
  /** Exits at once. */
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
