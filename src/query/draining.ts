import type { Attempt } from './attempt.ts'
import type { QueryLoop } from './query-loop.ts'
import { countedOf } from './spending.ts'

/** Waits for the last result of the reply, and for the bodies of discarded attempts. */
export function drain(loop: QueryLoop): void {
  const { attempt, oldBodies } = loop
  const gone = oldBodies.whenGone()
  if (gone === undefined) attempt.drain()
  else void gone.then(() => attempt.drain())
  checkStalled(loop)
}

/** Background calls belong to the query, unless it is the run of a session. */
export function abortTools(loop: QueryLoop, reason: unknown): void {
  loop.executor.abort(reason)
  if (loop.ownsBackground && reason !== 'interrupt') loop.background.stopAll(reason, true)
}

/** If every unfinished call, here and in the background, waits for a person, a session that can be resumed does not wait. */
export function checkStalled(loop: QueryLoop): void {
  // the host that resumed it may still interrupt or abort it in the same step
  if (isStalled(loop)) queueMicrotask(() => suspendStalled(loop))
}

const isStalled = ({ background, executor, log }: QueryLoop): boolean =>
  log !== undefined && background.isStalled && (executor.isStalled || !background.isIdle)

function suspendStalled(loop: QueryLoop): void {
  if (!isStalled(loop)) return
  if (loop.executor.isStalled) loop.tell({ type: 'calls.stalled' })
  else if (loop.actor.getSnapshot().matches('awaiting')) loop.suspend(0)
}

/** Every call has its result: adds the turn to the transcript. */
export function commitTurn(loop: QueryLoop, attempt: Attempt): void {
  if (attempt !== loop.attempt) return
  // a turn that could not be recorded is not over: it is resumed
  if (loop.log?.failure !== undefined) return loop.tell({ type: 'results.drained' })
  attempt.arrangeResults()
  loop.transcript.add(attempt)
  loop.loopGuard?.note(attempt.assistants, attempt.results, (id) => attempt.isRefused(String(id)))
  const read = loop.background.commit((id) => attempt.hasCall(id), attempt.toldBefore)
  loop.setup.clearAddedRules()
  if (attempt.isResumed) loop.account.recordWork(countedOf(loop, attempt))
  else {
    recordTurn(loop, attempt, read)
    loop.turns++
  }
  loop.fruitlessTurns = attempt.isFruitless ? loop.fruitlessTurns + 1 : 0
  // a reply that counts only because of its effects still counts as a failure
  if (!attempt.isCutOff) loop.choice.succeeded()
  loop.tell({ type: 'results.drained' })
}

function recordTurn(loop: QueryLoop, attempt: Attempt, read: readonly string[]): void {
  const { log, account } = loop
  const { reply, isPaused, isHookStopped } = attempt
  const calls = account.recordTurn(countedOf(loop, attempt))
  const more = {
    ...(isHookStopped && { isHookStopped }),
    ...(read.length > 0 && { read }),
    ...(calls > 0 && { calls }),
  }
  log?.append({ t: 'turn.committed', reply: reply.id, isPaused, ...more })
}
