import type { Admission, Refusal } from '../../machines/index.ts'
import { isAlone, isConflict } from './conflicts.ts'
import { isBarrier } from './evidence-book.ts'
import { firstOf, type Invariant } from './invariant.ts'
import { type CallEvidence, isAtWork, isClosed, mayBeAtWork, type TurnEvidence } from './turn-evidence.ts'

/** Q4, Q5, Q6: the executor's reason for a waiting call is the true one. */
export const explanationsAreTrue: Invariant = {
  name: 'explanations are true',
  check(turn) {
    if (!turn.areWaitsExplained || isClosed(turn.run)) return undefined
    const waiting = turn.calls.filter(({ phase }) => phase === 'queued')
    if (waiting.length === 0) return undefined
    const reasonFor = reasonsIn(turn, waiting, isAtWork)
    // the host has just been asked and may answer at once
    const otherwise = reasonsIn(turn, waiting, mayBeAtWork)
    return firstOf(waiting, (call) => {
      const why = reasonFor(call)
      const said = call.explained
      const says = said === undefined ? 'nothing' : inWords(said)
      // that it waits anyway is checked by another rule
      return says === why || why === mayStart || says === otherwise(call)
        ? undefined
        : `${call.id} waits because of ${why}, but the executor says ${says}`
    })
  },
}

const mayStart = 'may start'

/** In a recording, calls that wait for the same reason share one object. */
const words = new WeakMap<Admission, string>()

function inWords(said: Admission): string {
  const known = words.get(said) ?? (said.ok ? mayStart : `${said.because} ${said.blockers.toSorted()}`)
  words.set(said, known)
  return known
}

/** Derived from the rules alone, with the ids of the blockers; does not use the executor's own code. */
function reasonsIn(
  { calls, maxConcurrency }: TurnEvidence,
  waiting: readonly CallEvidence[],
  works: (call: CallEvidence) => boolean,
): (call: CallEvidence) => string {
  const executing = calls.filter(({ phase }) => phase.startsWith('executing'))
  const ids = executing.map(({ id }) => id).sort()
  const atWork = executing.filter(works)
  const alone = executing.find(isAlone)
  const unsafe = waiting.filter(isAlone)
  const [firstHeld, firstReady] = [unsafe.find(({ isHeld }) => isHeld), unsafe.find(({ isHeld }) => !isHeld)]
  const isKeyed = calls.some(({ keys }) => keys !== undefined)
  const said = (because: Refusal, blockers: readonly string[]): string => `${because} ${blockers}`
  const workers = atWork.map(({ id }) => id).sort()
  const [isFullNow, waitsForAll] = [said('full', workers), said('waitsForRunning', ids)]
  return (call) => {
    if (call.isHeld) return said('held', [])
    if (alone !== undefined) return said('exclusiveRunning', [alone.id])
    const barrier = [firstHeld, firstReady].find((each) => each !== undefined && each.index < call.index)
    if (barrier !== undefined) return said('behindUnsafe', [barrier.id])
    if (isAlone(call) && executing.length > 0) return waitsForAll
    const holders = executing.filter((each) => isConflict(each, call)).map(({ id }) => id)
    if (holders.length > 0) return said('resource', holders.sort())
    const earlier = isKeyed ? waiting.findLast((each) => isBarrier(each, call)) : undefined
    if (earlier !== undefined) return said('resource', [earlier.id])
    return atWork.length >= maxConcurrency ? isFullNow : mayStart
  }
}
