import { createDevTools, inspect } from '@xstate/inspect'
import type { ActorFeedOptions, Showable } from 'signalbox/inspect'
import { showServices } from './show-services.ts'

export interface WindowOptions extends ActorFeedOptions {
  /**
   * The page of the inspector.
   * @default 'https://stately.ai/viz?inspect'
   */
  url?: string | undefined
  /** The frame for the inspector; `false` opens a window. */
  iframe?: HTMLIFrameElement | false | undefined
  /** A window that already shows the inspector. */
  targetWindow?: Window | undefined
}

export interface WindowShowing {
  /** Shows one more executor, or a query with all its executors. Returns a function that removes it. */
  add(shown: Showable, options?: { title?: string }): () => void
  /** Detaches from the executors. */
  leave(): void
}

const hosted = 'https://stately.ai/viz?inspect'

/** In a browser: shows executors and queries in the window or the frame of an inspector, with `@xstate/inspect`. */
export function showInWindow(
  shown: Showable | Iterable<Showable>,
  { redact, limits, allowCommands, url = hosted, iframe, targetWindow }: WindowOptions = {},
): WindowShowing {
  const devTools = createDevTools()
  const { origin } = new URL(url)
  let heard: MessageEvent | undefined
  // the package accepts messages from any page: record the origin before it handles the message
  const hear = (event: MessageEvent): void => {
    heard = event
  }
  window.addEventListener('message', hear)
  const inspector = inspect({
    url,
    devTools,
    ...(iframe !== undefined && { iframe }),
    ...(targetWindow && { targetWindow }),
  })
  const feed = showServices({
    redact,
    limits,
    allowCommands,
    register: (service) => devTools.register(service),
    isTrusted: () => heard?.origin === origin,
  })
  for (const each of Symbol.iterator in shown ? shown : [shown]) feed.add(each)
  // if it found no window, the package has already warned
  if (inspector !== undefined) feed.begin()
  let isLeft = false
  return {
    add: feed.add,
    leave() {
      if (isLeft) return
      isLeft = true
      feed.end()
      inspector?.disconnect()
      window.removeEventListener('message', hear)
      heard = undefined
    },
  }
}
