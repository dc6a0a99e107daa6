import type { ActorFeedOptions, Showable } from 'signalbox/inspect'
import { type AnyInspector, showActors } from './show-actors.ts'

export interface StatelyOptions extends Omit<ActorFeedOptions, 'allowCommands'> {}

export interface StatelyShowing {
  /** Shows one more executor, a query with all its executors, or a connection. Returns a function that removes it. */
  add(shown: Showable, options?: { title?: string }): () => void
  /** Detaches from the executors. Does not stop the inspector: its creator does. */
  leave(): void
}

/** Shows executors and queries in an inspector of `@statelyai/inspect`. */
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
