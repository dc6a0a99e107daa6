import { whyWaiting as sentence, whyWaitingForKey } from 'signalbox/inspect'
import { type CallView, nameOf, phaseOf } from './call-view.ts'
import { cleanLine } from './clean-text.ts'
import type { SessionView } from './session-view.ts'

/** The executor's reason why a call does not run, in the same words as the inspector's page. */
export function whyWaiting(call: CallView, session: SessionView): string {
  const wait = session.waitOf(call)
  if (wait === undefined) return 'queued'
  const nameIn = (id: string): string | undefined => {
    const other = session.find(id, call.run)
    return other && nameOf(other)
  }
  const [maxConcurrency, isInQuery] = [session.limitOf(call), session.isInQuery(call)]
  return cleanLine(sentence(wait, { maxConcurrency, isInQuery, nameOf: nameIn }))
}

/** The key of other runs that a call waits for, and who holds it. */
export const whyLocked = ({ lockWait }: CallView): string =>
  lockWait === undefined ? 'waits for keys that another run holds' : cleanLine(whyWaitingForKey(lockWait))

/** Why a finished call has not been delivered. */
export function whyHeld(call: CallView, session: SessionView): string {
  const first = session.heldFor(call)
  const how = call.ending?.by === 'abort' ? 'stopped' : 'done'
  if (first === undefined) return how
  const still = phaseOf(first) === 'asking' ? 'is waiting for your answer' : 'is not finished'
  return `${how}, held for order: ${nameOf(first)} ${still}`
}
