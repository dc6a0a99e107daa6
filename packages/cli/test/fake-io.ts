import { PassThrough } from 'node:stream'
import type { Io } from '../src/io.ts'

/** Folders that cannot be read or written: the settings and sessions of the user who runs the tests stay untouched. */
export const noHome = '/dev/null/none'

/** A command line without a process: its output, and a way to send it a signal. */
export function fakeIo(given: Record<string, string> = {}, input = '') {
  const env = { SIGNALBOX_HOME: noHome, ...given }
  const printed = { out: '', err: '' }
  const listeners = new Set<(signal: 'SIGINT' | 'SIGTERM') => void>()
  const waiting: { text: string; resolve: () => void }[] = []
  const into = (key: 'out' | 'err') =>
    ({
      write: (text: string) => {
        printed[key] += text
        for (const { text, resolve } of waiting) if (printed.out.includes(text)) resolve()
        return true
      },
    }) as unknown as NodeJS.WriteStream
  const io: Io = {
    stdin: new PassThrough().end(input) as unknown as NodeJS.ReadStream,
    stdout: into('out'),
    stderr: into('err'),
    env,
    onSignal(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    exit: () => undefined,
  }
  return {
    io,
    printed,
    signal: (signal: 'SIGINT' | 'SIGTERM') => {
      for (const listener of [...listeners]) listener(signal)
    },
    hasPrinted: (text: string) => new Promise<void>((resolve) => void waiting.push({ text, resolve })),
  }
}
