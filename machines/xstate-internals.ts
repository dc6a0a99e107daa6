import type { AnyActorRef, AnyActorScope, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition } from 'xstate'

/** What XState does not publish and a chart that runs from a table needs; a test pins that it is there. */
interface SystemInternals {
  _relay(source: AnyActorRef, target: AnyActorRef, event: AnyEventObject): void
  _sendInspectionEvent(event: {
    type: '@xstate.microstep'
    actorRef: AnyActorRef
    event: AnyEventObject
    snapshot: AnyMachineSnapshot
    _transitions: readonly AnyTransitionDefinition[]
  }): void
}

export const internalsOf = ({ system }: Pick<AnyActorScope, 'system'>): SystemInternals =>
  system as unknown as SystemInternals
