import { type Clock, clearTimer } from '../../base/clock.ts'

/** Waits on this clock, until the time is over or the signal aborts. */
export function pause(clock: Clock, ms: number, stopped: AbortSignal): Promise<void> {
  if (stopped.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      clearTimer(clock, timer)
      stopped.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.setTimeout(end, ms)
    stopped.addEventListener('abort', end)
  })
}
