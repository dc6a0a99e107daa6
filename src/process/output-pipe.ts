import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'

/** A pipe that the program opened as file descriptor 6 for its output, because the socket that Node provides has no name. */
export interface OutputPipe {
  /** Starts reading; false if the pipe cannot be opened. */
  open(pid: number | undefined): boolean
  /** Resolves when no process holds the pipe any more. */
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

/** The reading end of a pipe that another process holds, if this process may open it. */
function pipeOf(pid: number | undefined, channel: number): Socket | undefined {
  if (pid === undefined) return undefined
  try {
    const fd = openSync(`/proc/${pid}/fd/${channel}`, constants.O_RDONLY | constants.O_NONBLOCK)
    return new Socket({ fd, readable: true, writable: false })
  } catch {
    return undefined
  }
}
