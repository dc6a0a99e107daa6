import type {
  AnyActorRef,
  AnyActorScope,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyTransitionDefinition,
  Observer,
} from 'xstate'

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
  _relay(source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEventObject): void
  _sendInspectionEvent(event: Inspected): void
  inspect(observer: unknown): { unsubscribe(): void }
  readonly scheduler: { cancelAll(actor: AnyActorRef): void }
  /** Ours: how many look on. XState does not say, and what nobody sees need not be told. */
  inspectors?: number
  readonly _clock: unknown
  readonly _logger: unknown
}

export const internalsOf = (system: unknown): SystemInternals => system as SystemInternals

/** From here on it is known whether anybody inspects a system. Where it is not, everything is told. */
export function countInspectors(system: unknown, known = 0): void {
  const internals = system as SystemInternals
  if (internals.inspectors !== undefined) return
  const { inspect } = internals
  internals.inspectors = known
  internals.inspect = (observer) => {
    const subscription = inspect(observer)
    internals.inspectors = (internals.inspectors ?? 0) + 1
    let isOver = false
    return {
      unsubscribe() {
        if (!isOver) internals.inspectors = (internals.inspectors ?? 0) - 1
        isOver = true
        subscription.unsubscribe()
      },
    }
  }
}

/** An event on its way to an actor. It is told in the system of the one who sends it, as XState does. */
export function relayTo(source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEventObject): void {
  const { system } = source ?? target
  if (isInspected(system)) internalsOf(system)._relay(source, target, event)
  else (target as unknown as ActorInternals)._send(event)
}

export const isInspected = (system: unknown): boolean => (system as SystemInternals).inspectors !== 0

/** What a table's actors have from XState's. */
export interface ActorInternals extends Pick<AnyActorRef, 'subscribe' | 'on' | 'getSnapshot' | 'toJSON' | 'system'> {
  readonly observers: Observers
  readonly _deferred: (() => void)[]
  _snapshot: AnyMachineSnapshot
  update(snapshot: AnyMachineSnapshot, event: AnyEventObject): void
  _process(event: AnyEventObject): void
  _send(event: AnyEventObject): void
  _error(error: unknown): void
  _complete(): void
  _stopProcedure(): unknown
}

export type Observers = Set<Partial<Observer<AnyMachineSnapshot>>>

export const status = { notStarted: 0, running: 1, stopped: 2 } as const

/** Whether the actions of a step run at once: its actor is between start and end, and the scope is the actor's own. */
export function isRunning(scope: AnyActorScope): boolean {
  const { _processingStatus, _actorScope } = scope.self as unknown as {
    _processingStatus: number
    _actorScope: unknown
  }
  return _processingStatus === status.running && _actorScope === scope
}

/** XState replaces methods of a scope for the length of a step, which a lean actor is not made for. */
export const wholeScope = (scope: AnyActorScope): AnyActorScope =>
  (scope as { wholeScope?: AnyActorScope }).wholeScope ?? scope
