import type { NewRecord, StoredStatus } from './journal.ts'

/** The state that a store can report without replaying the log: it changes with each record and can be stored beside it. */
export interface SessionState {
  readonly status: Exclude<StoredStatus, 'lost'>
  /** Questions that wait for an answer, by id, with the reply and the call that ask. */
  readonly questions: ReadonlyMap<string, string>
}

export const newSessionState: SessionState = { status: 'idle', questions: new Map() }

export function stateAfter(state: SessionState, record: NewRecord): SessionState {
  // calls of the conversation that it began with are still to run
  const isOpen = record.t === 'session.created' && record.open !== undefined
  const status = isOpen ? 'suspended' : (statusBy[record.t] ?? state.status)
  const questions = questionsAfter(state.questions, record)
  return status === state.status && questions === state.questions ? state : { status, questions }
}

/** Most records are of these types, which change no state: reading them would take longer than the rest of a commit. */
const stateless = /^\{"t":"(reply\.(started|block|stopped)|call\.started|turn\.committed|usage\.spent)"/
/** These only close questions. */
const closing = /^\{"t":"(call\.completed|permission\.answered|attempt\.discarded)"/

/** The state after records that are still JSON. It reads only those that can change it. */
export const stateAfterBodies = (state: SessionState, bodies: readonly string[]): SessionState =>
  bodies.reduce((before, body) => {
    const isSame = stateless.test(body) || (before.questions.size === 0 && closing.test(body))
    return isSame ? before : stateAfter(before, JSON.parse(body))
  }, state)

const statusBy: Record<string, SessionState['status'] | undefined> = {
  'message.sent': 'running',
  'run.suspended': 'suspended',
  'run.ended': 'idle',
}

/** A question closes when it is answered, asked with another input, when its call is over, or its reply no longer counts. */
function questionsAfter(
  questions: SessionState['questions'],
  { t, question, reply, call }: NewRecord,
): SessionState['questions'] {
  if (t === 'permission.asked') {
    const others = [...questions].filter(([, asker]) => asker !== `${reply} ${call}`)
    return new Map(others).set(String(question), `${reply} ${call}`)
  }
  if (questions.size === 0) return questions
  const isClosed = {
    'permission.answered': (id: string) => id === question,
    'call.completed': (_: string, asker: string) => asker === `${reply} ${call}`,
    'attempt.discarded': (_: string, asker: string) => asker.startsWith(`${reply} `),
    'run.ended': () => true,
  }[t]
  if (isClosed === undefined) return questions
  const open = [...questions].filter(([id, asker]) => !isClosed(id, asker))
  return open.length === questions.size ? questions : new Map(open)
}

export const statusOf = ({ status }: SessionState, isOwned: boolean): StoredStatus =>
  status === 'running' && !isOwned ? 'lost' : status
