import { EventEmitter } from 'node:events'
import type { ActorFeedOptions, Showable } from 'signalbox/inspect'
import { type Receiver, type ReceiverServerOptions, serveReceivers } from 'signalbox/inspect/server'
import { type FreshInspect, freshInspect } from './fresh-inspect.ts'
import { readReceiverCommand } from './receiver-command.ts'
import { showServices } from './show-services.ts'

export interface XStateInspectOptions extends ActorFeedOptions, Omit<ReceiverServerOptions, 'page'> {}

export interface XStateInspectServer {
  /** For `createWebSocketReceiver({ server })`. The address contains the secret: anyone with it can watch. */
  readonly server: string
  /** Shows one more executor, a query with all its executors, or a connection. Returns a function that removes it. */
  add(shown: Showable, options?: { title?: string }): () => void
  close(): Promise<void>
}

/** Shows executors and queries through the server of `@xstate/inspect`, on loopback. Costs nothing until one connects. */
export async function serveXStateInspect(
  shown: Showable | Iterable<Showable> = [],
  { redact, limits, allowCommands, ...options }: XStateInspectOptions = {},
): Promise<XStateInspectServer> {
  const clients = new Map<Receiver, Client>()
  let asking: Client | undefined
  let inspect: FreshInspect | undefined
  const feed = showServices({
    redact,
    limits,
    allowCommands,
    register: (service) => inspect?.devTools.register(service),
    isWanted,
  })
  for (const each of Symbol.iterator in shown ? shown : [shown]) feed.add(each)

  /** Stands in for the package's WebSocket server. */
  const hub = Object.assign(new EventEmitter(), { clients: new Set<Client>(), close: () => undefined })

  /** If every receiver is behind, messages are not serialized. */
  function isWanted(): boolean {
    const receivers = [...clients.keys()]
    if (receivers.some(({ isBehind }) => !isBehind)) return true
    for (const receiver of receivers) receiver.miss()
    return false
  }

  /** Sends the full state to a new receiver only. */
  const greet = (client: Client): void => {
    asking = client
    client.emit('message', JSON.stringify({ type: 'xstate.inspecting' }), false)
    asking = undefined
  }

  const { address, close } = await serveReceivers(
    {
      onJoin(receiver) {
        const client = new Client((text, isVital) => {
          if (asking === undefined) receiver.send(text, { isVital })
          else if (asking === client) receiver.send(text, { isVital: true })
        })
        if (inspect === undefined) {
          inspect = freshInspect(hub)
          feed.begin()
        }
        clients.set(receiver, client)
        hub.clients.add(client)
        hub.emit('connection', client)
      },
      onMessage(receiver, text) {
        const [client, command] = [clients.get(receiver), readReceiverCommand(text)]
        if (client === undefined || command === undefined) return
        if (command.type === 'xstate.inspecting') greet(client)
        else client.emit('message', JSON.stringify(command), false)
      },
      onCaughtUp(receiver) {
        const client = clients.get(receiver)
        if (client !== undefined) greet(client)
      },
      onLeave(receiver) {
        const client = clients.get(receiver)
        clients.delete(receiver)
        if (client !== undefined) hub.clients.delete(client)
        if (clients.size > 0) return
        feed.end()
        inspect?.inspector.disconnect()
        inspect = undefined
        hub.removeAllListeners()
      },
    },
    options,
  )
  return { server: address, add: feed.add, close }
}

/** Stands in for one of the package's sockets. */
class Client extends EventEmitter {
  readonly OPEN = 1
  readonly readyState = 1
  readonly send: (text: string) => void

  constructor(send: (text: string, isVital: boolean) => void) {
    super()
    this.send = (text) => send(text, text.startsWith('{"type":"service.stop"'))
  }

  terminate(): void {}
}
