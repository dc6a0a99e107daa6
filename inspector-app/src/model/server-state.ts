import { inline } from '../words.ts'
import type { Call, Model, Server } from './model.ts'
import { pathOf } from './state-path.ts'

/** The states of a connection as people say them. */
const words: Readonly<Record<string, string>> = { backingOff: 'backing off' }

export interface ServerState {
  /** As the chart names it. */
  readonly state: string
  readonly words: string
  /** Why it is not there; while it is, nothing. */
  readonly problem: string | undefined
}

export function serverState({ actors, charts, root }: Server): ServerState {
  const actor = actors.get(root)
  const state = pathOf(charts.get(actor?.chart ?? ''), actor?.active ?? [])[0] ?? 'unknown'
  const context = actor?.context
  const isFields = typeof context === 'object' && context !== null && !Array.isArray(context)
  const problem = isFields ? (context as { readonly [key: string]: typeof context }).problem : undefined
  const said = problem === undefined || state === 'ready' ? '' : inline(problem, 400)
  return { state, words: Object.hasOwn(words, state) ? `${words[state]}` : state, problem: said || undefined }
}

/** Whom a call waits for that runs already, in a sentence. */
export function awaitedWords(server: Server): string {
  const { words, problem } = serverState(server)
  return `waits for the server ${server.name} (${words}${problem === undefined ? '' : `: ${problem}`})`
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
