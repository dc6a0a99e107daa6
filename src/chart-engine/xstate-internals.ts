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

/** Unpublished parts of XState that the table engine needs; the self-test checks that they exist. */
interface SystemInternals {
  _bookId(): string
  _relay(source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEventObject): void
  _sendInspectionEvent(event: Inspected): void
  inspect(observer: unknown): { unsubscribe(): void }
  readonly scheduler: { cancelAll(actor: AnyActorRef): void }
  /** Added by Signalbox: the number of inspectors. XState does not expose it, and without inspectors no reports are created. */
  inspectors?: number
  readonly _clock: unknown
  readonly _logger: unknown
}

export const internalsOf = (system: unknown): SystemInternals => system as SystemInternals

/** Starts counting the inspectors of a system. In a system without a count, everything is reported. */
export function countInspectors(system: unknown, known = 0): void {
  const internals = system as SystemInternals
  if (internals.inspectors !== undefined) return
  const { inspect } = internals
  internals.inspectors = known
  const counting = (observer: unknown) => {
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
  internals.inspect = counting
}

/** Delivers an event to an actor, and reports it in the sender's system, as XState does. */
export function relayTo(source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEventObject): void {
  const { system } = source ?? target
  if (isInspected(system)) internalsOf(system)._relay(source, target, event)
  else (target as unknown as ActorInternals)._send(event)
}

export const isInspected = (system: unknown): boolean => (system as SystemInternals).inspectors !== 0

/** The members that the table's actors inherit from XState's. */
export interface ActorInternals extends Pick<AnyActorRef, 'subscribe' | 'on' | 'getSnapshot' | 'toJSON' | 'system'> {
  readonly observers: Observers
  id: string
  options: object
  _initState(snapshot?: unknown): void
  _deferred: { length: number; push(run: () => void): unknown; shift(): (() => void) | undefined }
  _snapshot: AnyMachineSnapshot
  update(snapshot: AnyMachineSnapshot, event: AnyEventObject): void
  _process(event: AnyEventObject): void
  _send(event: AnyEventObject): void
  _error(error: unknown): void
  _complete(): void
  _stopProcedure(): unknown
}

/** Those whose absence the self-test's chart would not show. */
const ofActor = ['_error', '_complete', '_stopProcedure', '_processingStatus', '_parent'] as const
const ofSystem = ['_bookId', '_clock', '_logger'] as const

/** The unpublished members that an actor of the installed XState does not have. */
export const missingMembers = (actor: AnyActorRef): string[] => [
  ...ofActor.filter((name) => !(name in actor)),
  ...ofSystem.filter((name) => !(name in actor.system)),
]

export type Observers = Set<Partial<Observer<AnyMachineSnapshot>>>

export const status = { notStarted: 0, running: 1, stopped: 2 } as const

/** Whether the actions of a step run at once: the actor is running, and the scope is the actor's own. */
export function isRunning(scope: AnyActorScope): boolean {
  const { _processingStatus, _actorScope } = scope.self as unknown as {
    _processingStatus: number
    _actorScope: unknown
  }
  return _processingStatus === status.running && _actorScope === scope
}

/** XState replaces methods of a scope during a step, which a table actor does not allow. */
export const wholeScope = (scope: AnyActorScope): AnyActorScope =>
  (scope as { wholeScope?: AnyActorScope }).wholeScope ?? scope
