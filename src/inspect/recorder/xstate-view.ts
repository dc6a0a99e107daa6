import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition, InspectionEvent } from 'xstate'
import { chartOf, type KnownChart } from '../frames/chart-definition.ts'
import { ascending, statesOf, xstateFields } from './xstate-fields.ts'

/** The only place that reads XState's inspection events: changes in XState are handled here. */
export type Sighting =
  | { readonly kind: 'actor'; readonly actor: AnyActorRef }
  | {
      readonly kind: 'event'
      readonly actor: AnyActorRef
      readonly from: AnyActorRef | undefined
      readonly event: AnyEventObject
    }
  | {
      readonly kind: 'step'
      readonly actor: AnyActorRef
      readonly event: AnyEventObject
      readonly snapshot: AnyMachineSnapshot
      readonly transitions: readonly AnyTransitionDefinition[]
    }

export function sightingOf(event: InspectionEvent): Sighting | undefined {
  const actor = event.actorRef as AnyActorRef
  switch (event.type) {
    case '@xstate.actor':
      return { kind: 'actor', actor }
    case '@xstate.event':
      // XState's internal events are not shown
      if (event.event.type.startsWith('xstate.')) return undefined
      return { kind: 'event', actor, from: event.sourceRef as AnyActorRef | undefined, event: event.event }
    case '@xstate.microstep': {
      const snapshot = event.snapshot as AnyMachineSnapshot
      const transitions = xstateFields().hasTransitions ? event._transitions : []
      return { kind: 'step', actor, event: event.event, snapshot, transitions }
    }
    default:
      return undefined
  }
}

/** The chart that an actor runs; undefined for actors without one. */
export function chartOfActor(actor: AnyActorRef): KnownChart | undefined {
  const { logic } = actor as unknown as { logic?: { root?: unknown } }
  return logic?.root === undefined ? undefined : chartOf(logic as never)
}

const numbers = new WeakMap<object, readonly number[]>()
const lists = new WeakMap<object, Map<string, readonly number[]>>()

/** The active states by number, in chart order: the same array instance for the same states. */
export function activeStates(snapshot: AnyMachineSnapshot): readonly number[] {
  if (!xstateFields().hasNodes) return sameList(snapshot, statesOf(snapshot))
  const { _nodes: nodes } = snapshot
  const known = numbers.get(nodes)
  if (known !== undefined) return known
  // XState keeps them in the order of entry
  const found = sameList(snapshot, nodes.map(({ order }) => order).sort(ascending))
  numbers.set(nodes, found)
  return found
}

function sameList({ machine }: AnyMachineSnapshot, found: readonly number[]): readonly number[] {
  const ofChart = lists.get(machine.root) ?? new Map<string, readonly number[]>()
  lists.set(machine.root, ofChart)
  const key = found.join()
  const known = ofChart.get(key) ?? found
  ofChart.set(key, known)
  return known
}

export type NameOfActor = (actor: AnyActorRef) => string

/** Names actors in the frames of one run: the host's names, or session ids. */
export function actorNames(home: AnyActorRef['system'], given: NameOfActor | undefined): NameOfActor {
  // a name that is not a string must not break the recording
  if (given !== undefined) return (actor) => String(given(actor))
  // session ids repeat across systems
  return ({ sessionId, system }) => (system === home ? sessionId : `query:${sessionId}`)
}
