import type { ConnectionActor } from './mcp-state.ts'

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
