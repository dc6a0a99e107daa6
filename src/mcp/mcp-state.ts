import type { ActorRefFrom } from 'xstate'
import type { ConnectionMachine } from '../../machines/index.ts'
import { type Clock, clearTimer } from '../pipeline/clock.ts'

export type McpState = 'connecting' | 'ready' | 'backingOff' | 'failed' | 'closed'

/** The running chart of one connection. */
export type ConnectionActor = ActorRefFrom<ConnectionMachine>

export const stateOf = (actor: ConnectionActor): McpState => actor.getSnapshot().value as McpState

/** When the connection has come to such a state; or when it is over, or the time is, or nobody waits any more. */
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
