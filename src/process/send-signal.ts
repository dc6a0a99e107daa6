/** To a process, or with a negative number to a group; what is gone already needs no signal. */
export function sendSignal(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {}
}
