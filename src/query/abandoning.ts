import { isSignalboxError } from '../base/signalbox-error.ts'
import { drain } from './draining.ts'
import type { QueryLoop } from './query-loop.ts'

/** The log has failed: calls that have not started never run, running calls finish, and none of them has a result. */
export function abandon(loop: QueryLoop): void {
  loop.stream?.stop()
  const error = loop.log?.failure
  if (isSignalboxError(error) && error.code === 'session_fenced') {
    // another owner continues the session: this one delivers nothing more
    void loop.attempt.halt().then(() => loop.tell({ type: 'results.drained' }))
    return
  }
  loop.executor.withdrawRest('it could not be recorded.')
  drain(loop)
}
