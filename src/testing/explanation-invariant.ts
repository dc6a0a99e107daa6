import type { Admission, Refusal } from '../../machines/index.ts'
import { firstOf } from './first-of.ts'
import type { Invariant } from './invariant.ts'
import { isClosed } from './is-closed.ts'
import type { CallEvidence, TurnEvidence } from './turn-evidence.ts'

/** Q4, Q5, Q6: why a call waits, as the executor explains it, is why it waits. */
export const explanationsAreTrue: Invariant = {
  name: 'explanations are true',
  check(turn) {
    if (!turn.areWaitsExplained || isClosed(turn.run)) return undefined
    const waiting = turn.calls.filter(({ phase }) => phase === 'queued')
    if (waiting.length === 0) return undefined
    const reasonFor = reasonsIn(turn, waiting)
    return firstOf(waiting, (call) => {
      const why = reasonFor(call)
      const said = call.explained
      const says = said === undefined ? 'nothing' : inWords(said)
      // that it waits all the same is another rule's business
      return says === why || why === mayStart
        ? undefined
        : `${call.id} waits because of ${why}, and is explained by ${says}`
    })
  },
}

const mayStart = 'may start'

/** In a recording, those that wait for the same reason share it. */
const words = new WeakMap<Admission, string>()

function inWords(said: Admission): string {
  const known = words.get(said) ?? (said.ok ? mayStart : `${said.because} ${said.blockers.toSorted()}`)
  words.set(said, known)
  return known
}

/** From the rules alone, with the ids of those it waits for: not from what the executor works it out by. */
function reasonsIn(
  { calls, maxConcurrency }: TurnEvidence,
  waiting: readonly CallEvidence[],
): (call: CallEvidence) => string {
  const executing = calls.filter(({ phase }) => phase.startsWith('executing'))
  const ids = executing.map(({ id }) => id).sort()
  const alone = executing.find(({ isSafe }) => !isSafe)
  const unsafe = waiting.filter(({ isSafe }) => !isSafe)
  const [firstHeld, firstReady] = [unsafe.find(({ isHeld }) => isHeld), unsafe.find(({ isHeld }) => !isHeld)]
  const said = (because: Refusal, blockers: readonly string[]): string => `${because} ${blockers}`
  const [isFullNow, waitsForAll] = [said('full', ids), said('waitsForRunning', ids)]
  return (call) => {
    if (call.isHeld) return said('held', [])
    if (alone !== undefined) return said('exclusiveRunning', [alone.id])
    const barrier = [firstHeld, firstReady].find((each) => each !== undefined && each.index < call.index)
    if (barrier !== undefined) return said('behindUnsafe', [barrier.id])
    const isFull = call.isSafe ? executing.length >= maxConcurrency : executing.length > 0
    return isFull ? (call.isSafe ? isFullNow : waitsForAll) : mayStart
  }
}
