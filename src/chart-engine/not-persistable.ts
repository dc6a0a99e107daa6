import { SignalboxError } from '../base/signalbox-error.ts'

/**
 * The contexts of the charts hold ports and records, which refer to each other and to functions: XState would follow them
 * until the stack is full.
 */
export function refuseToPersist(): never {
  throw new SignalboxError(
    'not_persistable',
    'getPersistedSnapshot() is not available on the actors of Signalbox: their context holds calls that are under way. Use getSnapshot() to look at the state, `createRecorder` of signalbox/inspect to record a run, or the transcript of a query to continue it later.',
  )
}

/** Makes an actor answer `getPersistedSnapshot()` with a sentence. */
export function notPersistable<Actor extends object>(actor: Actor): Actor {
  return Object.assign(actor, { getPersistedSnapshot: refuseToPersist })
}
