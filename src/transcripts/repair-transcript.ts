import { defaultIdsAndTime, type IdsAndTime } from '../messages/ids-and-time.ts'
import type { Message } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import { mendTranscript } from './mend-transcript.ts'
import type { TranscriptChange } from './transcript-problem.ts'
import { writeEntries } from './write-entries.ts'

export interface RepairedTranscript<AnyMessage> {
  /** A new array; unchanged messages are the given objects. */
  readonly messages: AnyMessage[]
  /** Each problem and its repair, in the order of the messages. */
  readonly changes: TranscriptChange[]
}

/**
 * Returns the transcript in a form that the Messages API accepts. Missing results are added and say that they were lost,
 * misplaced results are moved to their call, results without a call are dropped, and a call with a used id gets a new id.
 * The messages keep their form, plain or our own; `idsAndTime` creates ids and times for added messages of our own form.
 * The given messages are not changed.
 */
export function repairTranscript(
  messages: readonly ApiMessage[],
  idsAndTime?: IdsAndTime,
): RepairedTranscript<ApiMessage>
export function repairTranscript(messages: readonly Message[], idsAndTime?: IdsAndTime): RepairedTranscript<Message>
export function repairTranscript(
  messages: readonly unknown[],
  idsAndTime?: IdsAndTime,
): RepairedTranscript<Message | ApiMessage>
export function repairTranscript(
  messages: readonly unknown[],
  idsAndTime: IdsAndTime = defaultIdsAndTime,
): RepairedTranscript<unknown> {
  const { entries, form, changes } = mendTranscript(messages)
  return { messages: writeEntries(entries, form, idsAndTime), changes }
}
