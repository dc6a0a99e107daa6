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
export type { JournalLimits } from '../journal/journal-limits.ts'
export { type MemoryJournalsOptions, memoryJournals } from './memory-journals.ts'
