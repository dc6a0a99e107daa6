import type { Refusal } from '../../machines/index.ts'
import { firstOf } from './first-of.ts'
import type { Invariant } from './invariant.ts'
import { isClosed } from './is-closed.ts'
import type { CallEvidence, TurnEvidence } from './turn-evidence.ts'

/** Q4, Q5, Q6: why a call waits, as the executor explains it, is why it waits. */
export const explanationsAreTrue: Invariant = {
  name: 'explanations are true',
  check(turn) {
    if (!turn.areWaitsExplained || isClosed(turn.run)) return undefined
    return firstOf(turn.calls, (call) => {
      if (call.phase !== 'queued') return undefined
      const [why, ...blockers] = reasonFor(call, turn)
      const said = call.explained
      const says =
        said === undefined ? 'nothing' : said.ok ? 'may start' : `${said.because} ${said.blockers.toSorted()}`
      return says === `${why} ${blockers.toSorted()}` || why === 'may start'
        ? undefined
        : `${call.id} waits because of ${why} ${blockers}, and is explained by ${says}`
    })
  },
}

/** From the rules alone, with the ids of those it waits for: not from what the executor works it out by. */
function reasonFor(call: CallEvidence, { calls, maxConcurrency }: TurnEvidence): [Refusal | 'may start', ...string[]] {
  if (call.isHeld) return ['held']
  const executing = calls.filter(({ phase }) => phase.startsWith('executing'))
  const alone = executing.find(({ isSafe }) => !isSafe)
  if (alone !== undefined) return ['exclusiveRunning', alone.id]
  const before = calls.filter((each) => each.phase === 'queued' && !each.isSafe && each.index < call.index)
  const barrier = before.find(({ isHeld }) => isHeld) ?? before[0]
  if (barrier !== undefined) return ['behindUnsafe', barrier.id]
  const isFull = call.isSafe ? executing.length >= maxConcurrency : executing.length > 0
  return isFull ? [call.isSafe ? 'full' : 'waitsForRunning', ...executing.map(({ id }) => id)] : ['may start']
}
