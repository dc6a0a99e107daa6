import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'

/** The reading end of a pipe that another process holds, if this process may open it. */
export function pipeOf(pid: number | undefined, channel: number): Socket | undefined {
  if (pid === undefined) return undefined
  try {
    const fd = openSync(`/proc/${pid}/fd/${channel}`, constants.O_RDONLY | constants.O_NONBLOCK)
    return new Socket({ fd, readable: true, writable: false })
  } catch {
    return undefined
  }
}
