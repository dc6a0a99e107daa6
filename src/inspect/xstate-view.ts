import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition, InspectionEvent } from 'xstate'
import { chartOf, type KnownChart } from './chart-definition.ts'

/** What the recorder needs of XState's inspection, and nothing else: whatever changes there, changes here. */
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
      // its own housekeeping tells nobody anything
      if (event.event.type.startsWith('xstate.')) return undefined
      return { kind: 'event', actor, from: event.sourceRef as AnyActorRef | undefined, event: event.event }
    case '@xstate.microstep': {
      const snapshot = event.snapshot as AnyMachineSnapshot
      return { kind: 'step', actor, event: event.event, snapshot, transitions: event._transitions ?? [] }
    }
    default:
      return undefined
  }
}

/** The chart that an actor runs; undefined for actors that run none. */
export function chartOfActor(actor: AnyActorRef): KnownChart | undefined {
  const { logic } = actor as unknown as { logic?: { root?: unknown } }
  return logic?.root === undefined ? undefined : chartOf(logic as never)
}

const numbers = new WeakMap<object, readonly number[]>()

/** The active states by their numbers: the same list for the same states, wherever the chart keeps its own. */
export function activeStates({ _nodes }: AnyMachineSnapshot): readonly number[] {
  const known = numbers.get(_nodes)
  if (known !== undefined) return known
  const found = _nodes.map(({ order }) => order)
  numbers.set(_nodes, found)
  return found
}
