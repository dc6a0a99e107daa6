import { useEffect, useState } from 'preact/hooks'
import { type CheckedHistory, checksOf } from '../model/checked-history.ts'
import { useView } from '../use-view.ts'

/** Part of the time between two pictures. */
const budgetMs = 8

/** The checks of what is shown. They go on by themselves for a recording, and for a live run while somebody looks. */
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
