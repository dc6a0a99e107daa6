import { useEffect, useState } from 'preact/hooks'
import { type Experiment, experimentOf } from '../model/experiment.ts'
import { useView } from '../use-view.ts'

/** Part of the time between two pictures. */
const budgetMs = 10

/** The experiment with a run, and how to change it. It goes on while somebody looks. */
export function useExperiment(run: number): { experiment: Experiment; change: (how: () => void) => void } {
  const { history } = useView()
  const [version, paint] = useState(0)
  const experiment = experimentOf(history, run)
  useEffect(() => {
    if (!experiment.isBusy) return
    let due = requestAnimationFrame(function goOn() {
      experiment.advance(budgetMs)
      if (experiment.isBusy) due = requestAnimationFrame(goOn)
      else paint((count) => count + 1)
    })
    return () => cancelAnimationFrame(due)
  }, [experiment, version])
  const change = (how: () => void): void => {
    how()
    experiment.again()
    paint((count) => count + 1)
  }
  return { experiment, change }
}
