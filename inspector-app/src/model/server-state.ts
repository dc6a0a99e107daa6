import { activeStates, serverStateWords, whyWaitingForServer } from '../../../src/inspect/index.ts'
import { inline } from '../words.ts'
import type { Call, Model, Server } from './model.ts'

export interface ServerState {
  /** The state's name in the chart. */
  readonly state: string
  readonly words: string
  /** Why it is not connected; undefined while it is. */
  readonly problem: string | undefined
}

export function serverState({ actors, charts, root }: Server): ServerState {
  const actor = actors.get(root)
  const state = activeStates(charts.get(actor?.chart ?? ''), actor?.active ?? []).innermost || 'unknown'
  const context = actor?.context
  const isFields = typeof context === 'object' && context !== null && !Array.isArray(context)
  const problem = isFields ? (context as { readonly [key: string]: typeof context }).problem : undefined
  const said = problem === undefined || state === 'ready' ? '' : inline(problem, 400)
  return { state, words: serverStateWords(state), problem: said || undefined }
}

/** A sentence for a running call that waits for this server. */
export function awaitedWords(server: Server): string {
  const { state, problem } = serverState(server)
  return whyWaitingForServer(server.name, state, problem)
}

/** The server that a call waits for, and since when. */
export function awaited({ servers }: Model, { id, stage }: Call): { server: Server; since: number } | undefined {
  if (stage !== 'executing') return undefined
  for (const server of servers.values()) {
    const since = server.waiting.get(id)
    if (since !== undefined) return { server, since }
  }
  return undefined
}
