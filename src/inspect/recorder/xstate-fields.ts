import { type AnyMachineSnapshot, type AnyStateNode, createActor, createMachine, type InspectionEvent } from 'xstate'
import { once } from '../../../machines/once.ts'

/** Two private fields of XState, and whether they have the shape that the recorder needs. */
export interface XStateFields {
  /** `_nodes` of a snapshot: its active states. */
  readonly hasNodes: boolean
  /** `_transitions` of a microstep: the transitions it took. */
  readonly hasTransitions: boolean
}

/** Checked with a small chart at the first use. Warns once if a field is missing. */
export const xstateFields = once((): XStateFields => {
  const found = tryOut()
  if (!found.hasNodes || !found.hasTransitions) {
    const lost = found.hasTransitions
      ? 'reads active states from the state value instead'
      : 'cannot show which transitions were taken'
    console.warn(`Signalbox: the recorder does not fully support the installed version of xstate; it ${lost}.`)
  }
  return found
})

function tryOut(): XStateFields {
  const chart = createMachine({
    id: 'trial',
    type: 'parallel',
    states: { left: { initial: 'one', states: { one: { on: { go: 'two' } }, two: {} } }, right: {} },
  })
  const steps: InspectionEvent[] = []
  const actor = createActor(chart, { inspect: (event) => void steps.push(event) }).start()
  actor.send({ type: 'go' })
  try {
    const last = steps.findLast(({ type }) => type === '@xstate.microstep') as {
      _transitions?: { source: AnyStateNode }[]
    }
    const snapshot = actor.getSnapshot() as AnyMachineSnapshot
    const orders = snapshot._nodes?.map(({ order }) => order).sort(ascending)
    return {
      hasNodes: orders?.join() === statesOf(snapshot).join(),
      hasTransitions: last?._transitions?.map(({ source }) => source.id).join() === 'trial.left.one',
    }
  } catch {
    return { hasNodes: false, hasTransitions: false }
  }
}

/** The active states by number, from XState's public fields. */
export function statesOf({ machine, value }: Pick<AnyMachineSnapshot, 'machine' | 'value'>): number[] {
  const below = (node: AnyStateNode, inside: unknown): number[] => {
    const entries = typeof inside === 'string' ? [[inside, {}] as const] : Object.entries((inside ?? {}) as object)
    return [node.order, ...entries.flatMap(([key, deeper]) => below(node.states[key] as AnyStateNode, deeper))]
  }
  return below(machine.root, value).sort(ascending)
}

export const ascending = (a: number, b: number): number => a - b
