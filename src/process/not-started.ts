import type { RunningProcess } from './process-runner.ts'

/** What is left of a program that is not there. */
export function notStarted(file: string): RunningProcess {
  const error = Object.assign(new Error(`${file} was not found, or is not a program`), { code: 'ENOENT' })
  return {
    exited: Promise.resolve({ kind: 'notStarted', error }),
    closed: Promise.resolve(),
    gone: Promise.resolve(),
    signalGroup: () => undefined,
    unref: () => undefined,
    release: () => undefined,
  }
}
