import type { AnyActorRef } from 'xstate'

/** A connection to a server that calls depend on, such as those of `connectMcp`. */
export interface Connection {
  /** What the server is called. */
  readonly name: string
  readonly actor: AnyActorRef
  /** The ids of the calls that wait until the server is there. */
  waiting(): Iterable<string>
  /** Hears of each call that begins to wait, or does not wait any more. Returns how to stop. */
  onWaiting(listener: (call: string, isWaiting: boolean) => void): () => void
}

export const isConnection = (shown: object): shown is Connection => 'onWaiting' in shown
