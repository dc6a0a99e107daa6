import { createInspector, type StatelyInspectionEvent } from '@statelyai/inspect'
import type { Showable } from 'signalbox/inspect'
import { type Receiver, type ReceiverServerOptions, serveReceivers } from 'signalbox/inspect/server'
import { hostedPage } from './hosted-page.ts'
import { showActors } from './show-actors.ts'
import type { StatelyOptions } from './show-in-stately.ts'

export interface StatelyServerOptions extends StatelyOptions, Omit<ReceiverServerOptions, 'page'> {
  /**
   * The inspector that the page at `url` embeds.
   * @default 'https://stately.ai/inspect'
   */
  inspector?: string | undefined
}

export interface StatelyServer {
  /** For `createWebSocketReceiver({ server })`. The address contains the secret: anyone with it can watch. */
  readonly server: string
  /** Open this in a browser: a page that embeds and connects the hosted inspector. The address contains the secret too. */
  readonly url: string
  /** Shows one more executor, a query with all its executors, or a connection. Returns a function that removes it. */
  add(shown: Showable, options?: { title?: string }): () => void
  close(): Promise<void>
}

/** Shows executors and queries to receivers of `@statelyai/inspect`, on loopback. Costs nothing until one connects. */
export async function serveStatelyInspect(
  shown: Showable | Iterable<Showable> = [],
  { redact, limits, inspector: hosted = 'https://stately.ai/inspect', ...options }: StatelyServerOptions = {},
): Promise<StatelyServer> {
  // an invalid URL throws here, not when a browser requests the page
  const inspector = new URL(hosted)
  const receivers = new Set<Receiver>()
  let greeted: Receiver | undefined
  const adapter = {
    send(event: StatelyInspectionEvent) {
      const text = JSON.stringify(event)
      if (greeted !== undefined) greeted.send(text, { isVital: true })
      else for (const receiver of receivers) receiver.send(text, { isVital: isEnd(event) })
    },
  }
  // values already have limits; the package's default depth would truncate charts
  const feed = showActors(createInspector(adapter, { serializationDepthLimit: 100 }), { redact, limits, isWanted })
  for (const each of Symbol.iterator in shown ? shown : [shown]) feed.add(each)

  /** If every receiver is behind, messages are not serialized. */
  function isWanted(): boolean {
    if ([...receivers].some(({ isBehind }) => !isBehind)) return true
    for (const receiver of receivers) receiver.miss()
    return false
  }

  const greet = (receiver: Receiver): void => {
    greeted = receiver
    feed.greet()
    greeted = undefined
  }

  const { address, close } = await serveReceivers(
    {
      onJoin(receiver) {
        if (receivers.size === 0) feed.begin()
        greet(receiver)
        receivers.add(receiver)
      },
      onMessage: () => undefined,
      onCaughtUp: greet,
      onLeave(receiver) {
        receivers.delete(receiver)
        if (receivers.size === 0) feed.end()
      },
    },
    { ...options, page: (at) => hostedPage(at, inspector) },
  )
  return { server: `ws://${address}`, url: `http://${address}`, add: feed.add, close }
}

/** The last message about an actor. */
const isEnd = (event: StatelyInspectionEvent): boolean =>
  event.type === '@xstate.snapshot' && (event.snapshot as { status?: unknown }).status !== 'active'
