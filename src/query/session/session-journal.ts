import type { LimitReached } from '../../../machines/index.ts'
import type { SessionNote } from '../../journal/journal.ts'
import type { KeptContext } from '../../journal/kept-context.ts'
import type { AgentAttempt, RunLog } from '../../journal/run-log.ts'
import type { Message, UserMessage } from '../../messages/message.ts'
import type { PermissionLists } from '../../permission/permission-settings.ts'
import type { PermissionAnswer } from '../../tool/permission.ts'
import type { Account, CutRequest } from '../../usage/account.ts'
import type { RunUsage } from '../../usage/usage-total.ts'
import type { QuestionBook, SessionQuestion } from './question-book.ts'

/** The first record of a new session. */
export interface JournalStart extends Partial<KeptContext> {
  readonly messages: readonly Message[]
  readonly rules?: PermissionLists | undefined
}

/** The log of a session, and the state derived from it. */
export interface SessionJournal extends RunLog {
  /** How the last run ended, if nothing is left to do. */
  readonly ended:
    | { readonly reason: string; readonly error?: string | undefined; readonly limit?: LimitReached | undefined }
    | undefined
  /** The conversation up to the last turn that is over. */
  readonly transcript: readonly Message[]
  /** By uuid: what was shown beside the conversation, with the uuid of the message of the conversation before it. */
  readonly reported: ReadonlyMap<string, string>
  /** Sent, and not yet part of the conversation. */
  readonly sent: readonly UserMessage[]
  /** There is work to resume: an unfinished run, or a message. */
  readonly isUnfinished: boolean
  /** The log of the outermost session counts this agent. */
  readonly isCounted: boolean
  /** A call of the open turn has its answer and can continue. */
  readonly hasAnswered: boolean
  readonly rules: PermissionLists
  readonly context: Readonly<Record<string, unknown>>
  /** The rules and the context at the end of so many messages of the conversation. */
  stateAt(length: number): Pick<SessionJournal, 'rules' | 'context'>
  readonly usage: RunUsage
  /** Requests that were under way when the process before ended. */
  readonly cutRequests: readonly CutRequest[]
  /** Those of agents included. */
  readonly questions: readonly SessionQuestion[]
  /** Durable when it resolves with `accepted`. The answer itself arrives as a note. */
  answer(question: string, answer: PermissionAnswer, by: string | undefined): Promise<'accepted' | 'stale'>
  /** One listener at a time. */
  onNote(listener: (note: SessionNote) => void): void
  /** Told when a question, of an agent too, may have closed. */
  onQuestionClosed(listener: () => void): void
  /** Told when an agent that does not run has an answer to go on with. */
  onAgentAnswer(listener: () => void): void
  /** Records an answer while nothing asks. False if the question is closed. */
  takeAnswer(note: Extract<SessionNote, { type: 'answer' }>): boolean
  /** The end of the run copies this note. */
  endsBy(note: string): void
  openAgent(of: AgentAttempt, created: Readonly<Record<string, unknown>>): Promise<SessionJournal>
  fork(id: string, start: JournalStart): Promise<SessionJournal>
  close(): Promise<void>
}

/** The messages of a turn that is not over. The next run shows them again. */
export function openMessages({ turn }: SessionJournal): Message[] {
  if (turn === undefined || turn.committed !== undefined) return []
  const results = [...turn.calls.values()].flatMap(({ completed = [] }) => completed)
  return [...turn.blocks.map(({ message }) => message), ...results, ...(turn.stopped?.reports ?? [])]
}

/** The ids of all messages that the next run shows again, those included that nobody has answered. */
export const shownAgain = (journal: SessionJournal): Set<string> =>
  new Set([...journal.waiting, ...openMessages(journal).map(({ uuid }) => uuid)])

/** The log has what earlier processes have used, and keeps what this one does. */
export function keepUsage(account: Account, journal: SessionJournal): void {
  account.restore(journal.usage)
  const record: typeof account.record = (spent) => {
    journal.append({ t: 'usage.spent', optional: true, spent })
    // not awaited: the service answers later than the disk
    if (spent.opens !== undefined) void journal.flush()
  }
  account.record = record
  account.chargeCut(journal.cutRequests)
}

/** Those of the log, whether or not anything runs, and those of agents that the log does not have. */
export function allQuestions(journal: SessionJournal, { questions }: QuestionBook): SessionQuestion[] {
  const recorded = [...journal.questions]
  const known = new Set(recorded.map(({ id }) => id))
  return [...recorded, ...questions.filter(({ id, agents }) => agents.length > 0 && !known.has(id))]
}
