import type { Refusal } from '../../../machines/index.ts'
import { givenUp } from '../../inspect/index.ts'
import { type CallView, phaseOf } from './call-view.ts'
import { cleanLine } from './clean-text.ts'
import { nameOf } from './name-of.ts'
import type { SessionView } from './session-view.ts'

const maxNamed = 3

const reasons: Readonly<Record<Refusal, (names: string) => string>> = {
  held: () => 'waits until the model has gone on',
  exclusiveRunning: (names) => `waits for ${names}, which must run alone`,
  behindUnsafe: (names) => `waits behind ${names}, which must run alone`,
  waitsForRunning: (names) => `must run alone, waits for ${names}`,
  full: (names) => `waits for a free place beside ${names}`,
  discarded: () => givenUp.long,
}

/** The executor's own reason why a call does not run, in words. */
export function whyWaiting(call: CallView, session: SessionView): string {
  if (call.wait === undefined) return 'queued'
  const { because, blockers } = call.wait
  const names = namesOf(blockers.map((id) => session.find(id, call.run)))
  return Object.hasOwn(reasons, because) ? reasons[because](names) : `waits (${cleanLine(because)})`
}

/** Why a call that is finished has not been handed over. */
export function whyHeld(call: CallView, session: SessionView): string {
  const first = session.heldFor(call)
  const how = call.ending?.by === 'abort' ? 'stopped' : 'done'
  if (first === undefined) return how
  const still = phaseOf(first) === 'asking' ? 'is waiting for your word' : 'is not finished'
  return `${how}, held for order: ${nameOf(first)} ${still}`
}

function namesOf(calls: readonly (CallView | undefined)[]): string {
  const names = calls.flatMap((call) => (call === undefined ? [] : [nameOf(call)]))
  if (names.length === 0) return 'another call'
  const shown = names.slice(0, maxNamed)
  if (names.length > maxNamed) return `${shown.join(', ')} and ${names.length - maxNamed} more`
  return shown.length === 1 ? `${shown[0]}` : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}
