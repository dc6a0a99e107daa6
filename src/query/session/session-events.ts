import type { QueryResult } from '../query-message.ts'
import type { SessionQuestion } from './question-book.ts'

export interface SessionEvents {
  run_started: Record<string, never>
  /** A call, of any agent, waits for an answer. */
  question_opened: SessionQuestion
  /** It was answered, or its call is over. */
  question_closed: { readonly id: string }
  run_ended: { readonly result: QueryResult }
}
