import type { JournalRecord, NewRecord, OpenJournalOptions } from './journal.ts'
import { journalCorrupt, journalFull } from './journal-errors.ts'
import { blobBytes, bytesOf, type CheckedLimits, largeFields } from './journal-limits.ts'
import { checkRecord, journalVersion } from './record-types.ts'

/** A record on its way to the store. `body` is the JSON of everything but `n` and `at`; it never changes. */
export interface PendingRecord {
  readonly n: number
  readonly at: number
  readonly body: string
}

/** Numbers records, and rejects those that would exceed the limits. */
export class RecordCounter {
  readonly #id: string
  readonly #limits: CheckedLimits
  readonly #now: () => number
  #next: number
  #bytes: number

  constructor(id: string, limits: CheckedLimits, now: () => number, next: number, bytes: number) {
    this.#id = id
    this.#limits = limits
    this.#now = now
    this.#next = next
    this.#bytes = bytes
  }

  /** Throws if the record exceeds a limit. */
  number(body: string): PendingRecord {
    const bytes = bytesOf(body)
    this.#check(body, bytes)
    this.#bytes += bytes
    return { n: this.#next++, at: this.#now(), body }
  }

  #check(body: string, bytes: number): void {
    const { records, sessionBytes, recordBytes } = this.#limits
    if (this.#next >= records) throw journalFull(this.#id, `it has ${records} records`)
    if (this.#bytes + bytes > sessionBytes) throw journalFull(this.#id, `more than ${sessionBytes} bytes`)
    if (bytes <= recordBytes) return
    const rest = bytes - (bytes > blobBytes ? bytesInBlobs(body) : 0)
    if (rest > recordBytes) throw journalFull(this.#id, `a record of ${rest} bytes; the limit is ${recordBytes}`)
  }
}

const bytesInBlobs = (body: string): number => {
  let bytes = 0
  for (const text of largeFields(JSON.parse(body)).values()) bytes += bytesOf(text)
  return bytes
}

/** The type comes first, so that a person who reads the log finds it. Throws if JSON cannot express the record. */
export function bodyOf({ t, n: _n, at: _at, c: _c, blobs: _blobs, sealed: _sealed, ...fields }: NewRecord): string {
  return JSON.stringify({ t, ...fields })
}

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

/** For stores: reads a record back and checks it. A log in which the record with the number `expected` is missing is damaged. */
export function storedRecord(id: string, { n, at, body }: PendingRecord, expected: number): JournalRecord {
  if (n !== expected) throw journalCorrupt(id, `record ${expected}`, `found record ${n} in its place`)
  let fields: object
  try {
    fields = Object(JSON.parse(body))
  } catch (error) {
    throw journalCorrupt(id, `record ${n}`, 'its body is not JSON', error)
  }
  const record = Object.assign({ n, at }, fields, { n, at }) as JournalRecord
  checkRecord(id, record)
  return record
}
