import type { OpenJournalOptions } from './journal.ts'
import { bodyOf, type PendingRecord } from './pending-records.ts'
import { journalVersion } from './record-types.ts'

/** The session that a session is an agent of, by its first record. */
export const outerIn = (created: Readonly<Record<string, unknown>> | undefined): string | undefined =>
  typeof created?.outer === 'string' ? created.outer : undefined

/** The records that opening appends to a log of this length: `session.created` if it is empty, then `session.opened`. */
export function firstRecords(id: string, options: OpenJournalOptions, length: number, at: number): PendingRecord[] {
  const created = { ...options.created, t: 'session.created', v: journalVersion, id }
  const opened = { t: 'session.opened', owner: options.owner }
  const records = length === 0 ? [created, opened] : [opened]
  return records.map((record, index) => ({ n: length + index, at, body: bodyOf(record) }))
}
