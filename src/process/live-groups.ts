import { markedProcessesNow } from './marked-processes.ts'
import { sendSignal } from './send-signal.ts'

/** Groups that run now, and the marks of those who may leave them: none outlives this process if it ends by itself. */
const live = new Map<number, string | undefined>()

/** At the very end there is no time to wait: KILL at once, to the groups and to whoever left them. */
function killAll(): void {
  for (const pid of live.keys()) sendSignal(-pid, 'SIGKILL')
  const marks = [...live.values()].filter((mark) => mark !== undefined)
  if (marks.length > 0) for (const pid of markedProcessesNow(marks)) sendSignal(pid, 'SIGKILL')
}

export const liveGroups = {
  add(pid: number, mark: string | undefined): void {
    if (live.size === 0) process.on('exit', killAll)
    live.set(pid, mark)
  },
  delete(pid: number): void {
    live.delete(pid)
    if (live.size === 0) process.off('exit', killAll)
  },
}
