import { invalidOption } from '../base/invalid-option.ts'
import { isSignalboxError } from '../base/signalbox-error.ts'
import type { JournalRecord, JournalStore } from '../journal/journal.ts'
import type { AgentCallRef } from '../pipeline/ask-channel.ts'
import type { SessionQuestion } from '../query/session/question-book.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import { foldJournal } from './fold-journal.ts'

/** An open question of a stored session, or of an agent inside it. */
export interface StoredQuestion extends SessionQuestion {
  /** The session whose log has the question: `post` an answer to this one. */
  readonly session: string
}

/**
 * The open questions of a session and of all agents inside it, whether or not a process has the session open.
 *
 * @example
 * for (const { session, id } of await storedQuestions(journals, 'invoice-7'))
 *   await journals.post(session, { type: 'answer', question: id, answer: { behavior: 'allow' } })
 */
export function storedQuestions(journals: JournalStore, id: string): Promise<StoredQuestion[]> {
  return questionsIn(journals, id, [])
}

/** Answers a question of a session, or of an agent inside it, from any process. `stale`: no such question is open. */
export async function postAnswer(
  journals: JournalStore,
  id: string,
  given: { readonly question: string; readonly answer: PermissionAnswer; readonly by?: string | undefined },
): Promise<'accepted' | 'stale'> {
  const found = (await storedQuestions(journals, id)).find((question) => question.id === given.question)
  return journals.post(found?.session ?? id, { type: 'answer', ...given })
}

async function questionsIn(
  journals: JournalStore,
  id: string,
  around: readonly AgentCallRef[],
): Promise<StoredQuestion[]> {
  if (typeof journals?.read !== 'function') invalidOption('journals', 'a journal store', journals)
  const records: JournalRecord[] = []
  for await (const record of journals.read(id)) records.push(record)
  const { questions, agents } = foldJournal(records)
  const own: StoredQuestion[] = questions.map((question) => ({
    ...question,
    session: id,
    agents: [...around, ...question.agents],
  }))
  for (const { session, toolUseID, toolName } of agents) {
    try {
      own.push(...(await questionsIn(journals, session, [...around, { toolUseID, toolName }])))
    } catch (error) {
      // its process ended before the agent began
      if (!isSignalboxError(error) || error.code !== 'session_not_found') throw error
    }
  }
  return own
}
