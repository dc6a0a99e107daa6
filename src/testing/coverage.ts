import type { AnyActorRef, AnyStateMachine, InspectionEvent } from 'xstate'
import { callChart, executorChart, queryChart } from '../../machines/index.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import { chartOf } from '../inspect/frames/chart-definition.ts'
import { checkCoverage, coverageText, transitionNames } from '../inspect/index.ts'

interface TransitionCount {
  /** `call.queued --call.start[0]→ call.executing.validating` */
  readonly name: string
  readonly count: number
}

export interface ChartCoverage {
  /** Counts the transitions of this executor or query from now on. Returns a function that stops. */
  watch(watched: { readonly actor: Pick<AnyActorRef, 'system'> }): () => void
  /** Every transition of a chart, in order, and how often it was taken. */
  counts(chart: ChartName): TransitionCount[]
  missing(chart: ChartName): string[]
  /** Adds coverage saved by another process, since test runners use several. Throws if the text is not coverage. */
  add(saved: string): void
  /** The text of a coverage file, for `add` and for the inspector, which shows it as heat on the charts. */
  save(): string
  /** For the terminal: how many transitions of each chart were taken, and which were not. */
  report(): string
}

type ChartName = 'call' | 'executor' | 'query'

const machines = { call: callChart(), executor: executorChart(), query: queryChart() } as unknown as Record<
  ChartName,
  AnyStateMachine
>
const chartNames = Object.keys(machines) as ChartName[]

/** Counts which transitions of the charts a test suite takes. Create one per suite and `watch` every executor. */
export function coverage(): ChartCoverage {
  const charts = chartNames.map((id) => {
    const known = chartOf(machines[id])
    const names = transitionNames(known.definition)
    return { id, known, names, taken: names.map(() => 0) }
  })
  const chartCalled = (name: string) => charts.find(({ id }) => id === name)
  const counts = (name: ChartName): TransitionCount[] => {
    const chart = chartCalled(name)
    return (chart?.names ?? []).map((each, index) => ({ name: each, count: chart?.taken[index] ?? 0 }))
  }
  const missing = (name: ChartName): string[] => counts(name).flatMap(({ name, count }) => (count === 0 ? [name] : []))
  return {
    watch({ actor }) {
      const inspection = actor.system.inspect((event: InspectionEvent) => {
        if (event.type !== '@xstate.microstep') return
        for (const transition of event._transitions) {
          for (const { known, taken } of charts) {
            const index = known.transitionId(transition)
            if (index !== undefined) taken[index] = (taken[index] ?? 0) + 1
          }
        }
      })
      return () => inspection.unsubscribe()
    },
    counts,
    missing,
    add(saved) {
      const file = checkCoverage(saved)
      if (typeof file === 'string') throw new SignalboxError('invalid_option', file)
      for (const { chart, counts: more } of file.charts) {
        const known = chartCalled(chart.id)
        // by name: a file of another version may have transitions that no longer exist
        for (const [at, name] of transitionNames(chart).entries()) {
          const index = known?.names.indexOf(name) ?? -1
          if (known !== undefined && index >= 0) known.taken[index] = (known.taken[index] ?? 0) + (more[at] ?? 0)
        }
      }
    },
    save: () => coverageText(charts.map(({ known, taken }) => ({ chart: known.definition, counts: taken }))),
    report: () => charts.flatMap(({ id }) => reportOn(id, counts(id))).join('\n'),
  }
}

function reportOn(chart: ChartName, all: readonly TransitionCount[]): string[] {
  const never = all.filter(({ count }) => count === 0)
  const share = Math.round((100 * (all.length - never.length)) / all.length)
  const bar = `${'█'.repeat(Math.round(share / 5)).padEnd(20, '·')} ${String(share).padStart(3)} %`
  const head = `${chart.padEnd(9)}${bar} ${all.length - never.length} of ${all.length} transitions`
  return [head, ...never.map(({ name }) => `  never: ${name}`)]
}
