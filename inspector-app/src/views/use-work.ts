import { useEffect, useState } from 'preact/hooks'
import { useView } from '../use-view.ts'

/** Work that takes longer than an animation frame, done in small steps. */
interface Work {
  readonly isBusy: boolean
  /** The number of frames since it began. */
  readonly newer: number
  advance(maxMs: number): void
  again(): void
  takeIn(): void
}

/** Long enough to make progress, short enough that the page stays responsive. */
const budgetMs = 24
/** How often the progress is redrawn. */
const paintGapMs = 300

/** Continues the work while the view is shown. Returns functions that change and redraw it. */
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
    // something else than this view may have given it work
  }, [work, version, work.isBusy])
  // wait only for a recording that still loads; a live run never stops growing
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
