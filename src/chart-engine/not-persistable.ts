import { SignalboxError } from '../base/signalbox-error.ts'

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
