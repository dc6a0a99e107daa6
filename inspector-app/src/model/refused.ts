import type { Actor, Cast, LedgerEntry, Run } from './model.ts'

/** The transitions that the guards of an actor refuse at this moment. */
export function refusedNow(actor: Actor | undefined, cast: Cast): LedgerEntry | undefined {
  const entry = actor?.ledger.findLast(({ refusal }) => refusal !== undefined) ?? actor?.ledger.at(-1)
  if (actor === undefined || entry === undefined) return undefined
  if (entry.refusal === undefined) {
    const isNewest = entry.seq > (actor.last?.seq ?? -1)
    // transitions without an event are considered after every step: that none is taken now is no refusal
    const { transitions = [] } = cast.charts.get(actor.chart) ?? {}
    const isRefused = entry.candidates.every(([id, answer]) => answer === 'failed' && transitions[id]?.event !== '')
    return isNewest && isRefused ? entry : undefined
  }
  const { call, because } = entry.refusal
  const waits = (cast as Partial<Run>).byId?.get(call)?.wait
  return waits?.because === because ? entry : undefined
}

export const failedIn = ({ candidates }: LedgerEntry): number[] =>
  candidates.flatMap(([id, answer]) => (answer === 'failed' ? [id] : []))
