import type { Actor, ActorOptions, AnyActorRef, AnyEventObject, AnyStateMachine } from 'xstate'
import { SignalboxError } from '../base/signalbox-error.ts'
import type { GuardWatcher } from './guard-watch.ts'

export type EngineName = 'table' | 'xstate'

/** Runs the charts of `machines/`. Both implementations take the same steps; they differ in speed and in what they report. */
export interface ChartEngine {
  readonly name: EngineName
  /** An actor at the root of its own system. Not started. `onEnd`: its chart is done, or it was stopped. */
  createRoot<Machine extends AnyStateMachine>(
    chart: Machine,
    options: ActorOptions<Machine>,
    onEnd?: () => void,
  ): Actor<Machine>
  /** An actor in the parent's system, but outside the parent's `children`. Not started. */
  createChild(chart: AnyStateMachine, parent: AnyActorRef, id: string, input: unknown): AnyActorRef
  send(actor: AnyActorRef, event: AnyEventObject): void
  /** Returns a function that stops watching, or undefined if this engine cannot report guards. */
  watchGuards(system: AnyActorRef['system'], watcher: GuardWatcher): (() => void) | undefined
}

type System = AnyActorRef['system']

/** On the system itself: a WeakMap with an entry for every turn costs the garbage collector more than the turn. */
const key = Symbol('signalbox.engine')
interface Remembering {
  [key]?: ChartEngine
}

export const rememberEngine = (system: System, engine: ChartEngine): void => {
  ;(system as Remembering)[key] = engine
}

/** Undefined for a system that none of our engines started. */
export const engineOf = (system: System): ChartEngine | undefined => (system as Remembering)[key]

/** Whether the guards of a system can be watched. */
export const tellsGuards = (system: System): boolean => engineOf(system)?.name === 'table'

/**
 * The contexts of the charts hold ports and records with cycles and functions; XState would follow them until the stack
 * overflows.
 */
export function refuseToPersist(): never {
  throw new SignalboxError(
    'not_persistable',
    'getPersistedSnapshot() is not available on the actors of Signalbox: their context holds running calls. Use getSnapshot() to read the state, `createRecorder` of signalbox/inspect to record a run, or the transcript of a query to continue it later.',
  )
}

/** Makes `getPersistedSnapshot()` of an actor throw a readable error. */
export function notPersistable<Actor extends object>(actor: Actor): Actor {
  return Object.assign(actor, { getPersistedSnapshot: refuseToPersist })
}
