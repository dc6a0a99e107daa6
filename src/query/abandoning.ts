import { isSignalboxError } from '../base/signalbox-error.ts'
import { drain } from './draining.ts'
import type { QueryLoop } from './query-loop.ts'

/** Nothing can be recorded: what has not begun never will, what runs ends, and nothing of it counts as a result. */
export function abandon(loop: QueryLoop): void {
  loop.stream?.stop()
  const error = loop.log?.failure
  if (isSignalboxError(error) && error.code === 'session_fenced') {
    // another owner goes on with the session: nothing of this one may be seen
    void loop.attempt.halt().then(() => loop.tell({ type: 'results.drained' }))
    return
  }
  loop.executor.withdrawRest('it could not be recorded.')
  drain(loop)
}
