import { findProgram, notStarted } from './find-program.ts'
import { groupGate } from './group-gate.ts'
import { hideEnvironment } from './hide-environment.ts'
import { markedProcesses, runMarker } from './marked-processes.ts'
import { outputPipe } from './output-pipe.ts'
import type { ProcessRunner } from './process-runner.ts'
import { liveGroups, sendSignal } from './signals.ts'
import { spawnChild } from './spawn-child.ts'
import { watchdog } from './watchdog.ts'

/** Runs each program in its own process group, which the watchdog ends if this process is killed. */
export const groupRunner: ProcessRunner = {
  isolation: 'group',
  start(request, listener) {
    const { file, args, cwd, env } = request
    if (findProgram(file, env.PATH, cwd) === undefined) return notStarted(file)
    hideEnvironment()
    const gate = groupGate(listener.onErrorOutput === undefined)
    const [first = '', ...rest] = gate.command
    const gated = { ...request, file: first, args: [...rest, file, ...args] }
    const pipe = outputPipe(listener.onOutput)
    const { pid, exited, closed, control, input, unref, release } = spawnChild(gated, listener, true)
    const id = env[runMarker] ?? ''
    if (pid !== undefined) {
      liveGroups.add(pid, `${runMarker}=${id}`)
      // the program starts only after the watchdog has its group
      watchdog.guard(pid, id)
      if (gate.makesPipe) control?.once('data', () => control.end(pipe.open(pid) ? 'pipe\n' : '\n'))
      else control?.end('\n')
    }
    return {
      exited,
      closed: closed.then(() => pipe.closed()),
      ...input,
      signalGroup: (signal) => {
        if (pid !== undefined) sendSignal(-pid, signal)
      },
      unref: () => {
        pipe.unref()
        unref()
      },
      release: () => {
        pipe.release()
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
