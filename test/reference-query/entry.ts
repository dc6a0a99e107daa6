import { type Answer, type CallPlan, callInWords, type ErrorWord } from './story.ts'

/** A call as the model wrote it. Each has its own number in its input. */
export interface SentCall {
  readonly id: string
  readonly number: number
  readonly plan: CallPlan
}

/** One event. The log of a story contains all of them in order; the reference knows nothing else. */
export type Entry =
  | { is: 'opens text'; index: number; text: string; isThinking: boolean }
  | { is: 'opens call'; index: number; call: SentCall }
  | { is: 'closes'; index: number }
  | { is: 'stray'; event: unknown }
  | { is: 'announces'; id: string }
  | { is: 'stops'; reason: string }
  | { is: 'stream ends' }
  | { is: 'stream breaks'; error: ErrorWord; asEvent: boolean }
  /** Bodies and questions are numbered in the order in which they appeared. */
  | { is: 'body finishes'; body: number; modifies: boolean }
  | { is: 'body fails' | 'body reports'; body: number }
  | { is: 'answers'; question: number; answer: Answer }
  | { is: 'tick' | 'interrupts' | 'leaves' | 'prepared' }
  | { is: 'aborts' | 'host aborts'; reason: string | undefined }
  | { is: 'steers' | 'sends'; text: string }

export function entryInWords(entry: Entry): string {
  if (entry.is === 'opens call') {
    const { index, call } = entry
    return `opens call ${call.id} (#${call.number}) at ${index}: ${callInWords(call.plan)}`
  }
  if (entry.is === 'stray') return `stray ${JSON.stringify(entry.event)}`
  const { is, ...rest } = entry
  return [is, ...Object.values(rest).map(String)].join(' ')
}
