import { useEffect, useState } from 'preact/hooks'
import { useView } from '../use-view.ts'

/** Something that takes longer than a picture may, done a little at a time. */
interface Work {
  readonly isBusy: boolean
  /** How many frames came since it began. */
  readonly newer: number
  advance(maxMs: number): void
  again(): void
  takeIn(): void
}

/** Long enough to come forward, short enough that the page stays awake. */
const budgetMs = 24
/** How often people are told how far it is. */
const paintGapMs = 300

/** Goes on with it while somebody looks. Returns how to change it. */
export function useWork(work: Work): { change: (how: () => void) => void; paint: () => void } {
  const { state, history } = useView()
  const [version, setVersion] = useState(0)
  const paint = (): void => setVersion((count) => count + 1)
  useEffect(() => {
    if (!work.isBusy) return
    const until = performance.now() + paintGapMs
    let due = requestAnimationFrame(function goOn() {
      work.advance(budgetMs)
      if (work.isBusy && performance.now() < until) due = requestAnimationFrame(goOn)
      else paint()
    })
    return () => cancelAnimationFrame(due)
  }, [work, version])
  // a recording that is still being read; a live run would never come to rest
  const isLoading = state.source === 'recording' && work.newer > 0
  useEffect(() => {
    if (!isLoading) return
    work.takeIn()
    paint()
  }, [work, isLoading, history.length])
  const change = (how: () => void): void => {
    how()
    work.again()
    paint()
  }
  return { change, paint }
}
