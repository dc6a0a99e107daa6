import type { RunningProcess } from './process-runner.ts'

/** A process that could not be started. */
export function notStarted(file: string): RunningProcess {
  const error = Object.assign(new Error(`${file} was not found or is not executable`), { code: 'ENOENT' })
  return {
    exited: Promise.resolve({ kind: 'notStarted', error }),
    closed: Promise.resolve(),
    gone: Promise.resolve(),
    signalGroup: () => undefined,
    unref: () => undefined,
    release: () => undefined,
  }
}
