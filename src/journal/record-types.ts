import { journalCorrupt, journalNewer } from './journal-errors.ts'

/** The version of the log, in the field `v` of its first record. */
export const journalVersion = 1

const known = new Set([
  'session.created',
  'session.opened',
  'message.sent',
  'reply.started',
  'reply.block',
  'reply.stopped',
  'permission.asked',
  'permission.answered',
  'call.started',
  'call.completed',
  'turn.committed',
  'attempt.discarded',
  'background.started',
  'background.finished',
  'background.delivered',
  'run.suspended',
  'run.ended',
])

/** Rejects a log of a newer version before anything is written to it. */
export function checkRecord(id: string, record: { readonly n: number; readonly [field: string]: unknown }): void {
  const { n, t, v, optional } = record
  if (n === 0 && (t !== 'session.created' || typeof v !== 'number'))
    throw journalCorrupt(id, 'record 0', 'the first record must be session.created with a version')
  if (n === 0 && (v as number) > journalVersion)
    throw journalNewer(id, `has version ${v}; this Signalbox reads up to version ${journalVersion}`)
  if (typeof t !== 'string') throw journalCorrupt(id, `record ${n}`, 'it has no type')
  if (!known.has(t) && optional !== true) throw journalNewer(id, `has a record of the unknown type ${t}`)
}
