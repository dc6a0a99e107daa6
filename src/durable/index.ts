export { checkId, checkNote, checkOpening } from '../journal/check-arguments.ts'
export {
  type Journal,
  type JournalRecord,
  type JournalStore,
  keyOf,
  type NewRecord,
  type OpenJournalOptions,
  type SessionNote,
  type SessionSummary,
  type StoredStatus,
} from '../journal/journal.ts'
export {
  journalCorrupt,
  journalError,
  sessionExists,
  sessionFenced,
  sessionNotFound,
} from '../journal/journal-errors.ts'
export type { JournalLimits } from '../journal/journal-limits.ts'
export { type JournalSink, JournalWriter, type JournalWriterOptions } from '../journal/journal-writer.ts'
export { NoteInbox, type StoredNote } from '../journal/note-inbox.ts'
export { firstRecords, outerIn, type PendingRecord, storedRecord } from '../journal/pending-records.ts'
export { SessionResults, type StoredResults } from '../journal/session-results.ts'
export { newSessionState, type SessionState, stateAfter, stateAfterBodies, statusOf } from '../journal/session-state.ts'
export { type FoldedSession, foldJournal } from './fold-journal.ts'
export { type MemoryJournalsOptions, memoryJournals } from './memory-journals.ts'
export { type OpenSessionOptions, openSession } from './open-session.ts'
export { postAnswer, type StoredQuestion, storedQuestions } from './stored-questions.ts'
