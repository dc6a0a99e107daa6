import type { Socket } from 'node:net'
import { pipeOf } from './pipe-of.ts'

/** A pipe that a program has made for its output, as channel 6: what Node gives is a socket, which has no name. */
export interface OutputPipe {
  /** Reads from it from now on; false where it cannot be had. */
  open(pid: number | undefined): boolean
  /** When nobody holds it any more. */
  closed(): Promise<void>
  unref(): void
  release(): void
}

export function outputPipe(onOutput: (bytes: Uint8Array) => void): OutputPipe {
  let pipe: Socket | undefined
  let isUnref = false
  return {
    open(pid) {
      pipe = pipeOf(pid, 6)
      pipe?.on('data', onOutput).on('error', () => undefined)
      if (isUnref) pipe?.unref()
      return pipe !== undefined
    },
    async closed() {
      if (pipe !== undefined && !pipe.closed) await new Promise((end) => pipe?.once('close', end))
    },
    unref() {
      isUnref = true
      pipe?.unref()
    },
    release: () => void pipe?.destroy(),
  }
}
