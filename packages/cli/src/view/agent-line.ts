import type { Encoded } from 'signalbox/inspect'
import { cleanLine } from './clean-text.ts'
import { plural } from './duration.ts'

/** An agent's progress in one line; undefined if the progress is not an agent's. */
export function agentLine(progress: Encoded | undefined): string | undefined {
  if (typeof progress !== 'object' || progress === null || Array.isArray(progress)) return undefined
  const { type, turns, calls, newest } = progress as { readonly [key: string]: Encoded }
  if (type !== 'agent_progress' || typeof turns !== 'number' || typeof calls !== 'number') return undefined
  const counts = `${plural(turns, 'turn')}, ${plural(calls, 'call')}`
  return typeof newest === 'string' ? `${counts}, latest ${cleanLine(newest)}` : counts
}
