import { type ActorFeed, type ActorFeedOptions, createActorFeed } from 'signalbox/inspect'
import type { AnyInterpreter } from 'xstate'
import { ActorService } from './actor-service.ts'

export interface ServiceFeedOptions extends ActorFeedOptions {
  register(service: AnyInterpreter): void
  /** Called before a message that can be sent later instead. */
  isWanted?: (() => boolean) | undefined
  /** Called before a person's event is accepted. */
  isTrusted?: (() => boolean) | undefined
}

/** Registers every actor as a service while it is active. */
export function showServices({ register, isWanted, isTrusted, ...options }: ServiceFeedOptions): ActorFeed {
  const services = new Map<string, ActorService>()
  const feed = createActorFeed(
    {
      onActor(actor) {
        const service = new ActorService(actor, (event) => ask(service, event))
        services.set(actor.id, service)
        register(service.asInterpreter)
      },
      onEvent(actor, event) {
        if (isWanted?.() !== false) services.get(actor.id)?.tell(event)
      },
      onState(actor) {
        services.get(actor.id)?.move(actor, { isTold: isWanted?.() !== false })
      },
      onEnd({ id }) {
        services.get(id)?.stop()
        services.delete(id)
      },
    },
    options,
  )

  function ask(service: ActorService, sent: unknown): void {
    if (isTrusted?.() === false) return
    const problem = feed.ask(service.sessionId, eventIn(sent))
    // the protocol has no message for a refusal, so show it in the list of events
    if (problem !== undefined) service.tell({ type: 'signalbox.refused', because: problem })
  }
  return feed
}

/** Unwraps the envelope of an event. */
function eventIn(sent: unknown): unknown {
  const { $$type, data } = (sent ?? {}) as { $$type?: unknown; data?: unknown }
  return $$type === 'scxml' ? data : sent
}
