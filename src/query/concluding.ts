import type { QueryEnding } from '../../machines/index.ts'
import { clearTimer } from '../base/clock.ts'
import { createInterruptionMessage } from '../messages/create-messages.ts'
import { takeSent } from './preparing.ts'
import type { QueryLoop } from './query-loop.ts'

/** What every final state does: nothing is left running, nothing that was said is lost, and the reader hears why. */
export function conclude(loop: QueryLoop, ending: QueryEnding): void {
  const { transcript, outgoing, attempt } = loop
  clearTimer(loop.settings.clock, loop.backoff)
  loop.stream?.stop()
  loop.listenToHost(false)
  transcript.letGo()
  // no turn is left for it, but it must not be lost
  takeSent(loop)
  const isAborted = ending.reason === 'aborted_streaming' || ending.reason === 'aborted_tools'
  if (isAborted && ending.abortReason !== 'interrupt') {
    const message = createInterruptionMessage(ending.reason === 'aborted_tools', loop.idsAndTime)
    transcript.push(message)
    outgoing.push(message)
  }
  const { stopReason, stopDetails } = attempt
  outgoing.end({ ...ending, stopReason, ...(stopDetails !== undefined && { stopDetails }) })
}
