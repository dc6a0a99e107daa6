/** Signals a process, or a group if the number is negative. A process that has ended is no error. */
export function sendSignal(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {}
}
