import type { Clock } from 'signalbox'
import type { ConnectionMachine } from 'signalbox/machines'
import type { ActorRefFrom } from 'xstate'
import { clearTimer } from './bounded-clock.ts'

export type McpState = 'connecting' | 'ready' | 'backingOff' | 'failed' | 'closed'

/** The running chart of one connection. */
export type ConnectionActor = ActorRefFrom<ConnectionMachine>

export const stateOf = (actor: ConnectionActor): McpState => actor.getSnapshot().value as McpState

/** Resolves when the connection reaches such a state or ends, on timeout, or when the signal aborts. */
export function whenState(
  actor: ConnectionActor,
  holds: (state: McpState) => boolean,
  clock: Clock,
  ms?: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    let timer: unknown
    const finish = (): void => {
      subscription.unsubscribe()
      clearTimer(clock, timer)
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const look = (): void => {
      if (holds(stateOf(actor))) finish()
    }
    const subscription = actor.subscribe({ next: look, complete: finish })
    if (ms !== undefined) timer = clock.setTimeout(finish, ms)
    signal?.addEventListener('abort', finish, { once: true })
    look()
  })
}

/** The public view of a connection: pass it to an inspector or a recorder. */
export interface McpConnection {
  /** The server's name in the options. */
  readonly name: string
  /** The running chart. */
  readonly actor: ConnectionActor
  /** The ids of the calls that wait for the server. */
  waiting(): string[]
  /** Called when a call starts or stops waiting. Returns a function that removes the listener. */
  onWaiting(listener: (call: string, isWaiting: boolean) => void): () => void
}
