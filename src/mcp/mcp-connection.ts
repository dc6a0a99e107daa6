import type { ConnectionActor } from './mcp-state.ts'

/** A connection as others may look at it: hand it to an inspector or a recorder. */
export interface McpConnection {
  /** As the options name the server. */
  readonly name: string
  /** The running chart. */
  readonly actor: ConnectionActor
  /** The ids of the calls that wait until the server is there. */
  waiting(): string[]
  /** Hears of each call that begins to wait, or does not wait any more. Returns how to stop. */
  onWaiting(listener: (call: string, isWaiting: boolean) => void): () => void
}
