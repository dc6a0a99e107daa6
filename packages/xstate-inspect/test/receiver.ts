import { createWebSocketReceiver } from '@xstate/inspect'
import type { InspectReceiver, ParsedReceiverEvent } from '@xstate/inspect/lib/types.js'
import { afterEach, vi } from 'vitest'
import { WebSocket } from 'ws'

type Heard<Type extends ParsedReceiverEvent['type']> = Extract<ParsedReceiverEvent, { type: Type }>

export interface Listening {
  readonly receiver: InspectReceiver
  readonly heard: ParsedReceiverEvent[]
  of<Type extends ParsedReceiverEvent['type']>(type: Type): Heard<Type>[]
  /** Resolves as soon as the condition holds for the received events. */
  until(isThere: () => boolean): Promise<void>
  /** The newest state of an actor, as a visualiser shows it. */
  valueOf(session: string): unknown
  sessionOf(machine: string): string
  close(): Promise<void>
}

export function listening(receiver: InspectReceiver, close: () => Promise<void>): Listening {
  const heard: ParsedReceiverEvent[] = []
  const waiting = new Set<() => void>()
  receiver.subscribe((event) => {
    heard.push(event)
    for (const check of [...waiting]) check()
  })
  const of = <Type extends ParsedReceiverEvent['type']>(type: Type): Heard<Type>[] =>
    heard.filter((event): event is Heard<Type> => event.type === type)
  return {
    receiver,
    heard,
    of,
    close,
    until: (isThere) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!isThere()) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    valueOf: (session) =>
      heard.findLast((event) => 'state' in event && event.sessionId === session && event.state) !== undefined
        ? (heard.findLast((event) => 'state' in event && event.sessionId === session) as Heard<'service.state'>).state
            .value
        : undefined,
    sessionOf: (machine) => of('service.register').find((event) => event.machine.id === machine)?.sessionId ?? '',
  }
}

/** The package's real receiver over a real socket. It never closes the socket, so the test does. */
export function useWebSocketReceivers(): (server: string) => Listening {
  const open: Listening[] = []
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close()
    vi.unstubAllGlobals()
  })
  return (server) => {
    let socket: WebSocket | undefined
    class Kept extends WebSocket {
      constructor(url: string) {
        super(url)
        socket = this
      }
    }
    vi.stubGlobal('WebSocket', Kept)
    const receiver = createWebSocketReceiver({ server, serialize: undefined })
    vi.unstubAllGlobals()
    const kept = socket as unknown as WebSocket
    const closed = new Promise<void>((resolve) => kept.once('close', () => resolve()))
    const one = listening(receiver, () => {
      kept.close()
      return closed
    })
    open.push(one)
    return one
  }
}
