import { defaultStamps, type IdsAndTime } from '../messages/ids-and-time.ts'
import type { Message } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import { mendTranscript } from './mend-transcript.ts'
import type { TranscriptChange } from './transcript-problem.ts'
import { writeEntries } from './write-entries.ts'

export interface RepairedTranscript<AnyMessage> {
  /** A new array; what was not changed in it is the very object that was given. */
  readonly messages: AnyMessage[]
  /** What was wrong and what was done about it, in the order of the messages. */
  readonly changes: TranscriptChange[]
}

/**
 * The transcript as the Messages API takes it: lost results are made up and say so, displaced ones are moved to
 * their call, what belongs to nothing is dropped, and a call with a used id gets another. The messages keep their
 * form, plain or own; `idsAndTime` makes the ids and times of own ones that are added. Nothing that was given is changed.
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
  idsAndTime: IdsAndTime = defaultStamps,
): RepairedTranscript<unknown> {
  const { entries, form, changes } = mendTranscript(messages)
  return { messages: writeEntries(entries, form, idsAndTime), changes }
}
