import { type ActorFeed, type ActorFeedOptions, createActorFeed } from 'signalbox/inspect'
import type { AnyInterpreter } from 'xstate'
import { ActorService } from './actor-service.ts'

export interface ServiceFeedOptions extends ActorFeedOptions {
  register(service: AnyInterpreter): void
  /** Asked before anything that can be told later as well. */
  isWanted?: (() => boolean) | undefined
  /** Asked before a person's event is taken. */
  isTrusted?: (() => boolean) | undefined
}

/** Every actor as a service, registered as long as it lives. */
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
    // its wire has no word for a refusal, but the list of events is read by people
    if (problem !== undefined) service.tell({ type: 'signalbox.refused', because: problem })
  }
  return feed
}

/** Events travel in an envelope. */
function eventIn(sent: unknown): unknown {
  const { $$type, data } = (sent ?? {}) as { $$type?: unknown; data?: unknown }
  return $$type === 'scxml' ? data : sent
}
