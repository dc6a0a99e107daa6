import { type Clock, clearTimer } from '../../base/clock.ts'

/** Time on this clock, cut short when nobody waits any more. */
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
