import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RunningProcess } from './process-runner.ts'

/** The path of a program, found as the operating system finds it; undefined if there is none that can be executed. */
export function findProgram(file: string, path = '', cwd = '/'): string | undefined {
  const places = file.includes('/') ? [file] : path.split(':').map((folder) => `${folder || '.'}/${file}`)
  return places.map((place) => resolve(cwd, place)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

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
