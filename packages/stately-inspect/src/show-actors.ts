import type { createInspector } from '@statelyai/inspect'
import {
  type ActorFeed,
  type ActorFeedOptions,
  type ChartDefinition,
  chartConfig,
  createActorFeed,
  type SeenActor,
} from 'signalbox/inspect'

/** Any inspector of the package: in a window, on its server, or with a custom adapter. */
export type AnyInspector = Pick<ReturnType<typeof createInspector>, 'actor' | 'event' | 'snapshot'>

/** The part of an actor that the package needs: the definition from its logic, and its parents. */
interface ActorLike {
  readonly id: string
  readonly sessionId: string
  readonly _parent: ActorLike | undefined
  readonly logic: { readonly config: object }
}

export interface ActorsFeed extends ActorFeed {
  /** Reports every current actor again. */
  greet(): void
}

/** Reports every actor, its events and its states to an inspector of `@statelyai/inspect`. */
export function showActors(
  inspector: AnyInspector,
  options: ActorFeedOptions & { isWanted?: () => boolean },
): ActorsFeed {
  const isWanted = options.isWanted ?? (() => true)
  const families = new Map<string, ActorLike>()
  const introduce = (actor: SeenActor): void => {
    const { id, parent, chart } = actor
    const like = {
      id: chart.id,
      sessionId: id,
      _parent: families.get(parent ?? ''),
      logic: { config: configOf(chart) },
    }
    families.set(id, like)
    inspector.actor(like as unknown as Parameters<AnyInspector['actor']>[0], snapshotOf(actor))
  }
  const feed = createActorFeed(
    {
      onActor: introduce,
      onEvent({ id }, event, from) {
        if (isWanted()) inspector.event(id, event, from === undefined ? {} : { source: from })
      },
      onState(actor) {
        if (actor.status === 'active' && isWanted())
          inspector.snapshot(actor.id, snapshotOf(actor), { event: actor.event })
      },
      onEnd(actor) {
        inspector.snapshot(actor.id, snapshotOf(actor), { event: actor.event })
        families.delete(actor.id)
      },
    },
    options,
  )
  return {
    ...feed,
    greet() {
      for (const actor of feed.actors()) introduce(actor)
    },
  }
}

const configs = new WeakMap<ChartDefinition, object>()

function configOf(chart: ChartDefinition): object {
  const config = configs.get(chart) ?? chartConfig(chart)
  configs.set(chart, config)
  return config
}

const snapshotOf = ({ status, value, context }: SeenActor) => ({ status, value, context })
