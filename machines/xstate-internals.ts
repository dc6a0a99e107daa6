import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition, Observer } from 'xstate'

type Inspected = { actorRef: AnyActorRef } & (
  | { type: '@xstate.actor' }
  | { type: '@xstate.action'; action: { type: string; params: unknown } }
  | { type: '@xstate.event'; sourceRef: AnyActorRef | undefined; event: AnyEventObject }
  | { type: '@xstate.snapshot'; event: AnyEventObject; snapshot: AnyMachineSnapshot }
  | {
      type: '@xstate.microstep'
      event: AnyEventObject
      snapshot: AnyMachineSnapshot
      _transitions: readonly AnyTransitionDefinition[]
    }
)

/** What XState does not publish and charts that run from a table need; a test pins that it is there. */
interface SystemInternals {
  _bookId(): string
  _register(sessionId: string, actor: AnyActorRef): void
  _unregister(actor: AnyActorRef): void
  _relay(source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEventObject): void
  _sendInspectionEvent(event: Inspected): void
  readonly _clock: unknown
  readonly _logger: unknown
}

export const internalsOf = ({ system }: { system: unknown }): SystemInternals => system as SystemInternals

/** The methods that a table's actor has from XState's. */
export interface ActorInternals extends Pick<AnyActorRef, 'subscribe' | 'on' | 'getSnapshot' | 'toJSON'> {
  _process(event: AnyEventObject): void
  _error(error: unknown): void
  _complete(): void
}

export type Observers = Set<Partial<Observer<AnyMachineSnapshot>>>

export const status = { notStarted: 0, running: 1, stopped: 2 } as const

/** Between its start and its end. The actions of an actor that has not started wait for it. */
export const isRunning = (actor: AnyActorRef): boolean =>
  (actor as unknown as { _processingStatus: number })._processingStatus === status.running
