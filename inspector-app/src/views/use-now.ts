import { useEffect, useState } from 'preact/hooks'
import { useStore, useView } from '../use-view.ts'

/**
 * The moment shown. While a live run is followed, time advances between its frames, so that waiting times grow. Otherwise
 * it is the time of the last frame.
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
  return isRunning ? store.now() : model.at
}
