import type { Encoded } from '../../inspect/index.ts'
import { cleanLine } from './clean-text.ts'
import { plural } from './duration.ts'

/** How far an agent is, in one line; undefined where the progress is not that of one. */
export function agentLine(progress: Encoded | undefined): string | undefined {
  if (typeof progress !== 'object' || progress === null || Array.isArray(progress)) return undefined
  const { type, turns, calls, newest } = progress as { readonly [key: string]: Encoded }
  if (type !== 'agent_progress' || typeof turns !== 'number' || typeof calls !== 'number') return undefined
  const counts = `${plural(turns, 'turn')}, ${plural(calls, 'call')}`
  return typeof newest === 'string' ? `${counts}, newest ${cleanLine(newest)}` : counts
}
