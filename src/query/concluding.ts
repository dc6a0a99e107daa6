import type { QueryEnding } from '../../machines/index.ts'
import { clearTimer } from '../base/clock.ts'
import { describeError } from '../base/describe-error.ts'
import { describeValue } from '../base/describe-value.ts'
import type { SessionRecord } from '../journal/records.ts'
import { createInterruptionMessage } from '../messages/create-messages.ts'
import type { Message } from '../messages/message.ts'
import { takeOutcomes, takeSent } from './preparing.ts'
import type { QueryLoop } from './query-loop.ts'
import type { QueryResult } from './query-message.ts'
import { countedOf, dropClaim, endRequest } from './spending.ts'

/** The body of every final state: stops everything, keeps all messages of the user, and reports the reason to the reader. */
export function conclude(loop: QueryLoop, ending: QueryEnding): void {
  clearTimer(loop.settings.clock, loop.backoff)
  clearTimer(loop.settings.clock, loop.suspendGrace)
  loop.stream?.stop()
  endRequest(loop, { isTurn: false, isRetried: false })
  dropClaim(loop)
  loop.account.leave(loop)
  loop.listenToHost(false)
  loop.stopHearingLog()
  // nothing that the query has started outlives it
  const closing = endBackground(loop, ending)
  if (closing === undefined) report(loop, ending)
  else void closing.then(() => report(loop, ending))
}

function report(loop: QueryLoop, ending: QueryEnding): void {
  const { outgoing, attempt, log, account } = loop
  const isResumable = ending.reason === 'suspended' || ending.reason === 'journal_error'
  // open work and unsent messages stay in the log for the resumed session
  const { entered, added } = isResumable ? { entered: [], added: [] } : closeTranscript(loop, ending)
  const { stopReason, stopDetails } = attempt
  if (isResumable) account.dropWork()
  else account.recordWork(countedOf(loop, attempt))
  const { usage } = account
  // not a spread: a spread that adds a key is ten times slower
  const result: QueryResult = Object.assign({}, ending, { stopReason, usage }, stopDetails && { stopDetails })
  const show = (): void => {
    for (const message of [...entered, ...added]) outgoing.push(message)
    outgoing.end(result)
  }
  if (log === undefined || ending.reason === 'journal_error') return show()
  log.append(ending.reason === 'suspended' ? { t: 'run.suspended' } : endRecord(loop, result, added))
  const end = (isDurable: boolean): void =>
    isDurable ? show() : outgoing.end({ reason: 'journal_error', error: log.failure, stopReason, usage })
  const flushing = log.flush()
  if (flushing === undefined) end(true)
  else void flushing.then(end)
}

/** A session keeps its background calls for its next run, unless it is suspended. */
function endBackground(
  { ownsBackground, background, log }: QueryLoop,
  { reason }: QueryEnding,
): Promise<void> | undefined {
  if (log !== undefined && (reason === 'suspended' || reason === 'journal_error')) return background.suspend()
  return ownsBackground ? background.close('query_ended') : undefined
}

/** `added`: the messages that the end itself adds to the conversation. */
function closeTranscript(loop: QueryLoop, ending: QueryEnding): { entered: Message[]; added: Message[] } {
  const { transcript } = loop
  transcript.letGo()
  const outcomes = loop.ownsBackground ? takeOutcomes(loop) : []
  // there is no turn left for these messages, but the transcript keeps them; those of a log wait there for the next run
  const isFollowed = loop.log !== undefined && (ending.reason === 'max_turns' || ending.reason === 'hook_stopped')
  const entered = [...outcomes, ...(isFollowed ? [] : takeSent(loop))]
  const isAborted = ending.reason === 'aborted_streaming' || ending.reason === 'aborted_tools'
  if (!isAborted || ending.abortReason === 'interrupt') return { entered, added: [] }
  const message = createInterruptionMessage(ending.reason === 'aborted_tools', loop.idsAndTime)
  transcript.push(message)
  return { entered, added: [message] }
}

function endRecord(loop: QueryLoop, result: QueryResult, messages: readonly Message[]): SessionRecord {
  const { reason, stopReason } = result
  return {
    t: 'run.ended',
    reason,
    stopReason,
    ...('abortReason' in result && { abortReason: describeValue(result.abortReason, 200) }),
    ...('error' in result && { error: describeError(result.error) }),
    ...(result.reason === 'limit' && { limit: { limit: result.limit, used: result.used, max: result.max } }),
    took: loop.takeEntered(),
    messages,
  }
}
