import type { AnyActorRef, AnyActorScope, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition } from 'xstate'

type Inspected =
  | { type: '@xstate.action'; actorRef: AnyActorRef; action: { type: string; params: unknown } }
  | {
      type: '@xstate.microstep'
      actorRef: AnyActorRef
      event: AnyEventObject
      snapshot: AnyMachineSnapshot
      _transitions: readonly AnyTransitionDefinition[]
    }

/** What XState does not publish and a chart that runs from a table needs; a test pins that it is there. */
interface SystemInternals {
  _relay(source: AnyActorRef, target: AnyActorRef, event: AnyEventObject): void
  _sendInspectionEvent(event: Inspected): void
}

export const internalsOf = ({ system }: Pick<AnyActorScope, 'system'>): SystemInternals =>
  system as unknown as SystemInternals

/** Between its start and its end. The actions of an actor that has not started wait for it. */
export const isRunning = (actor: AnyActorRef): boolean =>
  (actor as unknown as { _processingStatus: 0 | 1 | 2 })._processingStatus === 1
