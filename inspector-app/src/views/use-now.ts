import { useEffect, useState } from 'preact/hooks'
import { useStore, useView } from '../use-view.ts'

let receivedAt = 0
let receivedSeq = -1

/**
 * The moment that is shown. While a live run is followed, time goes on between its frames, so that what waits is seen to
 * wait; at every other moment it is the time of the last frame.
 */
export function useNow(): number {
  const store = useStore()
  const { model, state, run } = useView()
  const [, tick] = useState(0)
  const isRunning =
    state.source === 'live' && state.position === undefined && run !== undefined && run.yielded < run.calls.length
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => tick((count) => count + 1), 200)
    return () => clearInterval(timer)
  }, [isRunning])
  if (!isRunning) return model.at
  const newest = store.history.model.seq
  if (newest !== receivedSeq) {
    receivedSeq = newest
    receivedAt = performance.now()
  }
  return model.at + Math.min(performance.now() - receivedAt, 3_600_000)
}
