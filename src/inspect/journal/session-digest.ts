import { describeError } from '../../base/describe-error.ts'
import { isSignalboxError } from '../../base/signalbox-error.ts'
import type { JournalRecord, JournalStore, SessionSummary, StoredStatus } from '../../journal/journal.ts'
import { checkRecord } from '../../journal/record-types.ts'

/** A stored session as a list shows it. JSON. */
export interface StoredSessionInfo {
  readonly id: string
  /** `running`: a process has it open. `lost`: its run is unfinished and nobody owns it. `broken`: see `problem`. */
  readonly status: StoredStatus | 'broken'
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly records: number
  /** Replies with all their results. */
  readonly turns: number
  readonly calls: number
  /** Its own questions that wait for an answer. Those of its agents are in their own entries. */
  readonly questions: number
  /** Calls that may or may not have taken effect. */
  readonly unknown: number
  /** The session that this one is an agent of. */
  readonly outer?: string
  /** The process that has it open. */
  readonly owner?: string
  /** The last process that took over an unfinished run, and the one before it. */
  readonly recovered?: { readonly from: string; readonly by: string }
  readonly problem?: { readonly code: string; readonly message: string }
}

export interface StoredSessionList {
  /** The latest change first. Agents stand among them. */
  readonly sessions: readonly StoredSessionInfo[]
  /** Older ones that are not in the list. */
  readonly left: number
}

type Counts = Pick<StoredSessionInfo, 'turns' | 'calls' | 'unknown' | 'recovered'>

interface Known {
  readonly records: number
  readonly updatedAt: number
  readonly counts: Counts
}

/** Lists the sessions of a store. A log is read again only after it has changed; a damaged one does not hide the others. */
export class SessionDigests {
  readonly #journals: Pick<JournalStore, 'list' | 'read'>
  readonly #most: number
  #known = new Map<string, Known>()
  #listing: Promise<StoredSessionList> | undefined

  constructor(journals: Pick<JournalStore, 'list' | 'read'>, most = 500) {
    this.#journals = journals
    this.#most = most
  }

  /** Callers that ask while a list is being made share it. */
  list(): Promise<StoredSessionList> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = undefined
    })
    return this.#listing
  }

  async #list(): Promise<StoredSessionList> {
    const found: SessionSummary[] = []
    for await (const summary of this.#journals.list()) found.push(summary)
    found.sort((a, b) => b.updatedAt - a.updatedAt)
    const shown = found.slice(0, this.#most)
    const sessions: StoredSessionInfo[] = []
    for (const summary of shown) sessions.push(await this.#infoOf(summary))
    const ids = new Set(shown.map(({ id }) => id))
    this.#known = new Map([...this.#known].filter(([id]) => ids.has(id)))
    return { sessions, left: found.length - shown.length }
  }

  async #infoOf(summary: SessionSummary): Promise<StoredSessionInfo> {
    const { id, status, createdAt, updatedAt, records, questions, outer, owner, problem } = summary
    const info = {
      ...{ id, status, createdAt, updatedAt, records, questions: questions.length },
      ...{ turns: 0, calls: 0, unknown: 0 },
      ...(outer !== undefined && { outer }),
      ...(owner !== undefined && { owner }),
    }
    try {
      const counts = await this.#countsOf(summary)
      if (problem === undefined) return { ...info, ...counts }
      return { ...info, status: 'broken', problem: { code: problem, message: problemTexts[problem] } }
    } catch (error) {
      const code = isSignalboxError(error) ? error.code : 'journal_error'
      // a log without a readable id is listed under the name of its file
      const isNameless = problem !== undefined && code === 'session_not_found'
      const found = isNameless
        ? { code: problem, message: problemTexts[problem] }
        : { code, message: isSignalboxError(error) ? error.message : describeError(error) }
      return { ...info, status: 'broken', problem: found }
    }
  }

  async #countsOf({ id, records, updatedAt }: SessionSummary): Promise<Counts> {
    const known = this.#known.get(id)
    if (known?.records === records && known.updatedAt === updatedAt) return known.counts
    const counts = await count(id, this.#journals.read(id))
    this.#known.set(id, { records, updatedAt, counts })
    return counts
  }
}

/** For a store that says so in its list and yet reads the log. */
const problemTexts: Readonly<Record<NonNullable<SessionSummary['problem']>, string>> = {
  journal_corrupt: 'The journal is damaged.',
  journal_newer: 'The journal was written by a newer version.',
  journal_error: 'The journal cannot be read.',
}

async function count(id: string, records: AsyncIterable<JournalRecord>): Promise<Counts> {
  let [turns, calls, unknown, isOpen] = [0, 0, 0, false]
  let owner: string | undefined
  let recovered: Counts['recovered']
  for await (const record of records) {
    checkRecord(id, record)
    if (record.t === 'turn.committed') turns++
    else if (record.t === 'reply.block') calls += callsIn(record)
    else if (record.t === 'call.completed') unknown += isUnknown(record) ? 1 : 0
    else if (record.t === 'session.opened') {
      if (isOpen && owner !== undefined) recovered = { from: owner, by: String(record.owner) }
      owner = String(record.owner)
    }
    if (record.t === 'message.sent' || (record.t === 'session.created' && record.open !== undefined)) isOpen = true
    if (record.t === 'run.ended') isOpen = false
  }
  return { turns, calls, unknown, ...(recovered !== undefined && { recovered }) }
}

/** The fields may be anything: somebody may have edited the log. */
function callsIn({ message }: JournalRecord): number {
  const content = (message as { message?: { content?: unknown } } | null | undefined)?.message?.content
  return Array.isArray(content) ? content.filter((block) => block?.type === 'tool_use').length : 0
}

const isUnknown = ({ ending }: JournalRecord): boolean => (ending as { by?: unknown } | undefined)?.by === 'unknown'
