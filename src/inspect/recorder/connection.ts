import type { AnyActorRef } from 'xstate'

/** A connection to a server that calls depend on, such as those of `connectMcp`. */
export interface Connection {
  /** The server's name. */
  readonly name: string
  readonly actor: AnyActorRef
  /** The ids of the calls that wait until the server is connected. */
  waiting(): Iterable<string>
  /** Called when a call begins or stops waiting. Returns a function that unsubscribes. */
  onWaiting(listener: (call: string, isWaiting: boolean) => void): () => void
}

export const isConnection = (shown: object): shown is Connection => 'onWaiting' in shown
