import type { BackgroundCall } from '../../background/background-call.ts'
import { aName, anObject, checkOption, requireOption } from '../../base/option-rules.ts'
import { readOptions as readExecutorOptions } from '../../executor/options.ts'
import type { AccountOptions } from '../../usage/account.ts'
import type { QueryOptions } from '../options.ts'
import type { Query } from '../query.ts'
import type { QueryResult } from '../query-message.ts'
import type { SessionQuestion } from './question-book.ts'

/** The options of every run of a session: all options of `query()`, except that the messages may come later. */
export interface SessionOptions extends Omit<QueryOptions, 'messages' | 'journal'> {
  /**
   * Names the session in the ids of its questions.
   * @default a random id
   */
  id?: string | undefined
  /**
   * The conversation so far.
   * @default none
   */
  messages?: QueryOptions['messages'] | undefined
}

export interface ForkOptions {
  id?: string | undefined
  /**
   * The uuid of the last message to keep. The rest of its turn is kept too.
   * @default the last message
   */
  at?: string | undefined
}

export interface SendOptions {
  /**
   * Whether the message interrupts an active run: the model stops, calls that yield to an interrupt stop, questions are
   * rejected, and the run goes on with the message.
   * @default false
   */
  interrupt?: boolean | undefined
}

export function checkSessionOptions(options: unknown): void {
  requireOption('options', options, anObject)
}

export const checkSessionId = (id: unknown): void => checkOption('createSession: id', id, aName)

export interface SessionEvents {
  /** `run` is for observers such as the inspector: the session itself reads its messages. */
  run_started: { readonly run: Query }
  /** A call, of any agent, waits for an answer. */
  question_opened: SessionQuestion
  /** The question was answered, or its call has ended. */
  question_closed: { readonly id: string }
  /** A call in the background is over, whether or not a run is active. The model gets its outcome in the next turn. */
  background_finished: BackgroundCall
  run_ended: { readonly result: QueryResult }
}

export const sessionEventTypes: readonly string[] = Object.keys({
  run_started: true,
  question_opened: true,
  question_closed: true,
  background_finished: true,
  run_ended: true,
} satisfies { [Type in keyof SessionEvents]: true })

export function accountOptions({ prices, limits, executor }: SessionOptions): AccountOptions {
  const { clock, idsAndTime } = readExecutorOptions(executor)
  return { prices, limits, clock, now: idsAndTime.now }
}
