import { constants } from 'node:os'
import { markedProcessesNow } from './marked-processes.ts'

/** Signals a process, or a group if the number is negative. A process that has ended is no error. */
export function sendSignal(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {}
}

/** The signal that a shell reports as an exit code above 128. */
export function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
}

/** Running groups with the marks of their processes. If this process ends by itself, none of them outlives it. */
const live = new Map<number, string | undefined>()

/** KILL at once, because an exit handler cannot wait: to the groups and to marked processes outside them. */
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
