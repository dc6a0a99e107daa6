import { useEffect, useState } from 'preact/hooks'
import { type CheckedHistory, checksOf } from '../model/checked-history.ts'
import { useView } from '../use-view.ts'

/** Part of the time between two animation frames. */
const budgetMs = 8

/** The checks of the shown history. They continue by themselves for a recording, and for a live run while it is shown. */
export function useChecks(): CheckedHistory {
  const { state, history } = useView()
  const [, paint] = useState(0)
  const checks = checksOf(history)
  const isWanted = state.source === 'recording' || state.tab === 'rules'
  const { length } = history
  useEffect(() => {
    if (!isWanted || !checks.isBehind) return
    let due = requestAnimationFrame(function goOn() {
      checks.advance(budgetMs)
      paint((count) => count + 1)
      if (checks.isBehind) due = requestAnimationFrame(goOn)
    })
    return () => cancelAnimationFrame(due)
  }, [checks, isWanted, length])
  return checks
}
