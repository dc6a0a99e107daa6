import type { ActorFeedOptions, Showable } from 'signalbox/inspect'
import type { AnyInspector } from './any-inspector.ts'
import { showActors } from './show-actors.ts'

export interface StatelyOptions extends Omit<ActorFeedOptions, 'allowCommands'> {}

export interface StatelyShowing {
  /** Shows one more executor, a query with each executor it will have, or a connection. Returns how to leave it. */
  add(shown: Showable, options?: { title?: string }): () => void
  /** Leaves without a trace in the executors. The inspector stays as it is: whoever made it stops it. */
  leave(): void
}

/** Shows executors and queries in an inspector that `@statelyai/inspect` made. */
export function showInStately(
  shown: Showable | Iterable<Showable>,
  inspector: AnyInspector,
  options: StatelyOptions = {},
): StatelyShowing {
  const feed = showActors(inspector, options)
  for (const each of Symbol.iterator in shown ? shown : [shown]) feed.add(each)
  feed.begin()
  return { add: feed.add, leave: feed.end }
}
