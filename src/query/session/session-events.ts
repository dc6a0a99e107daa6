import type { Query } from '../query.ts'
import type { QueryResult } from '../query-message.ts'
import type { SessionQuestion } from './question-book.ts'

export interface SessionEvents {
  /** `run` is for those who look on, such as the inspector: the session itself reads its messages. */
  run_started: { readonly run: Query }
  /** A call, of any agent, waits for an answer. */
  question_opened: SessionQuestion
  /** It was answered, or its call is over. */
  question_closed: { readonly id: string }
  run_ended: { readonly result: QueryResult }
}
