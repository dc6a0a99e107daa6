import type { AnyActorRef, AnyStateMachine, AnyStateNode, AnyTransitionDefinition, InspectionEvent } from 'xstate'
import { callMachine, executorMachine, queryMachine } from '../../machines/index.ts'

export interface TransitionCount {
  /** `call.queued --call.start[0]→ call.executing.validating` */
  readonly name: string
  readonly count: number
}

export interface ChartCoverage {
  /** Counts what this executor or query takes from now on. Says how to stop. */
  watch(watched: { readonly actor: Pick<AnyActorRef, 'system'> }): () => void
  /** Every transition of a chart, and how often it was taken: heat for whoever draws it. */
  counts(chart: ChartName): TransitionCount[]
  missing(chart: ChartName): string[]
  /** For the terminal: how much of each chart was taken, and what was not. */
  report(): string
}

const charts = { call: callMachine, executor: executorMachine, query: queryMachine } as unknown as Record<
  ChartName,
  AnyStateMachine
>
export type ChartName = 'call' | 'executor' | 'query'

/** Which transitions of the charts a test suite has taken. One for the whole suite, and every executor watched. */
export function coverage(): ChartCoverage {
  const taken = new Map<AnyTransitionDefinition, number>()
  const counts = (chart: ChartName): TransitionCount[] =>
    transitionsOf(charts[chart]).map(({ name, definition }) => ({ name, count: taken.get(definition) ?? 0 }))
  const missing = (chart: ChartName): string[] =>
    counts(chart).flatMap(({ name, count }) => (count === 0 ? [name] : []))
  return {
    watch({ actor }) {
      const inspection = actor.system.inspect((event: InspectionEvent) => {
        if (event.type !== '@xstate.microstep') return
        for (const transition of event._transitions) taken.set(transition, (taken.get(transition) ?? 0) + 1)
      })
      return () => inspection.unsubscribe()
    },
    counts,
    missing,
    report: () =>
      (Object.keys(charts) as ChartName[])
        .flatMap((chart) => {
          const all = counts(chart)
          const left = missing(chart)
          const share = Math.round((100 * (all.length - left.length)) / all.length)
          const head = `${chart.padEnd(9)}${bar(share)} ${all.length - left.length} of ${all.length} transitions`
          return [head, ...left.map((name) => `  never: ${name}`)]
        })
        .join('\n'),
  }
}

const bar = (share: number): string =>
  `${'█'.repeat(Math.round(share / 5)).padEnd(20, '·')} ${String(share).padStart(3)} %`

export interface ChartTransition {
  readonly name: string
  readonly definition: AnyTransitionDefinition
}

/** Every transition of a chart, in document order. A forbidden one (`{}`) counts: it refuses on purpose. */
export function transitionsOf(machine: AnyStateMachine): ChartTransition[] {
  return nodesOf(machine.root).flatMap((node) => {
    const lists = [...node.transitions.values(), ...(node.always === undefined ? [] : [node.always])]
    return lists.flatMap((list) =>
      list.map((definition, index) => ({ name: nameOf(node, definition, index), definition })),
    )
  })
}

function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap((child) => nodesOf(child as AnyStateNode))]
}

function nameOf(node: AnyStateNode, { eventType, target }: AnyTransitionDefinition, index: number): string {
  const to = target?.map(({ id }) => id).join(', ') ?? '(stays)'
  return `${node.id} --${eventType === '' ? 'always' : eventType}[${index}]→ ${to}`
}
