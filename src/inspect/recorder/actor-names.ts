import type { AnyActorRef } from 'xstate'

export type NameOfActor = (actor: AnyActorRef) => string

/** Names actors in the frames of one run: the host's names, or session ids. */
export function actorNames(home: AnyActorRef['system'], given: NameOfActor | undefined): NameOfActor {
  // a name that is not a string must not break the recording
  if (given !== undefined) return (actor) => String(given(actor))
  // session ids repeat across systems
  return ({ sessionId, system }) => (system === home ? sessionId : `query:${sessionId}`)
}
