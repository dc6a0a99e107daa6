import type { AnyActorRef } from 'xstate'

export type NameOfActor = (actor: AnyActorRef) => string

/** What actors are called in the frames of one run: as the host wants, or by their session ids. */
export function actorNames(home: AnyActorRef['system'], given: NameOfActor | undefined): NameOfActor {
  // a host that names them badly must not break the recording
  if (given !== undefined) return (actor) => String(given(actor))
  // each system counts its actors from the same number
  return ({ sessionId, system }) => (system === home ? sessionId : `around:${sessionId}`)
}
