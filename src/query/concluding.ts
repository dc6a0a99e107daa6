import type { QueryEnding } from '../../machines/index.ts'
import { clearTimer } from '../base/clock.ts'
import { createInterruptionMessage } from '../messages/create-messages.ts'
import { takeSent } from './preparing.ts'
import type { QueryLoop } from './query-loop.ts'

/** The body of every final state: stops everything, keeps all messages of the user, and reports the reason to the reader. */
export function conclude(loop: QueryLoop, ending: QueryEnding): void {
  const { transcript, outgoing, attempt } = loop
  clearTimer(loop.settings.clock, loop.backoff)
  loop.stream?.stop()
  loop.listenToHost(false)
  transcript.letGo()
  // there is no turn left for these messages, but the transcript keeps them
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
