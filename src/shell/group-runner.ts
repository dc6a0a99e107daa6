import { findProgram } from './find-program.ts'
import { liveGroups } from './live-groups.ts'
import { markedProcesses } from './marked-processes.ts'
import { notStarted } from './not-started.ts'
import type { ProcessRunner } from './process-runner.ts'
import { runMarker } from './run-marker.ts'
import { sendSignal } from './send-signal.ts'
import { spawnChild } from './spawn-child.ts'
import { watchdog } from './watchdog.ts'

// nothing begins before the watchdog knows of it, nor when this process is gone by then
const gate = 'read -r go <&4 && exec "$@" 4<&-'

/** Each program in a group of its own, which the watchdog ends when this process is killed. */
export const groupRunner: ProcessRunner = {
  isolation: 'group',
  start(request, listener) {
    const { file, args, cwd, env } = request
    if (findProgram(file, env.PATH, cwd) === undefined) return notStarted(file)
    const gated = { ...request, file: '/bin/sh', args: ['-c', gate, 'gate', file, ...args] }
    const { pid, exited, closed, control, input, unref, release } = spawnChild(gated, listener, true)
    const id = env[runMarker] ?? ''
    if (pid !== undefined) {
      liveGroups.add(pid, `${runMarker}=${id}`)
      watchdog.guard(pid, id)
      control?.end('\n')
    }
    return {
      exited,
      closed,
      ...input,
      signalGroup: (signal) => {
        if (pid !== undefined) sendSignal(-pid, signal)
      },
      unref,
      release: () => {
        if (pid !== undefined) {
          liveGroups.delete(pid)
          watchdog.letGo(pid)
        }
        release()
      },
    }
  },
  findMarked: markedProcesses,
  signal: sendSignal,
}
