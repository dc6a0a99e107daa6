import { markedProcesses, runMarker } from './marked-processes.ts'
import type { ProcessRunner } from './process-runner.ts'
import { liveGroups, sendSignal } from './signals.ts'
import { spawnChild } from './spawn-child.ts'

/** Local processes without isolation, for programs that can be trusted to end. */
export const nodeProcessRunner: ProcessRunner = {
  start(request, listener) {
    const { pid, exited, closed, input, unref, release } = spawnChild(request, listener, false)
    const id = request.env[runMarker]
    if (pid !== undefined) liveGroups.add(pid, id === undefined ? undefined : `${runMarker}=${id}`)
    return {
      exited,
      closed,
      ...input,
      signalGroup: (signal) => {
        if (pid !== undefined) sendSignal(-pid, signal)
      },
      unref,
      release: () => {
        if (pid !== undefined) liveGroups.delete(pid)
        release()
      },
    }
  },
  findMarked: markedProcesses,
  signal: sendSignal,
}
