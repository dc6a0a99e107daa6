import { describeError } from '../../base/describe-error.ts'
import { isSignalboxError } from '../../base/signalbox-error.ts'
import type { JournalRecord, JournalStore } from '../../journal/journal.ts'
import { journalCorrupt } from '../../journal/journal-errors.ts'
import { checkRecord } from '../../journal/record-types.ts'
import type { Frame } from '../frames/frame.ts'
import { createRecorder, type RecorderOptions } from '../recorder/recorder.ts'
import { LoggedSession } from './logged-session.ts'

export interface JournalRecordingOptions extends Pick<RecorderOptions, 'redact' | 'limits' | 'prices'> {
  /** Reads the log of an agent inside the session, so that it is shown too. */
  agents?: ((session: string) => AsyncIterable<JournalRecord>) | undefined
}

interface Log {
  readonly id: string
  readonly records: readonly JournalRecord[]
  /** The call that the agent works for. */
  readonly call: string | undefined
}

/** A log that somebody edited could name itself. */
const mostAgents = 1_000

/**
 * The log of a session as a recording: its records are driven through the production charts, and a recorder watches them
 * as it watches a live run. Times, questions, answers, results and endings are those of the log. A log has no queue, no
 * hooks and no lanes: a call is shown as waiting for its permission until the log says that it began, and as exclusive if
 * it has effects and ran beside no other.
 *
 * @example
 * for await (const frame of recordingOfJournal(journals.read('invoice-7'))) lines.push(frameLine(frame))
 */
export async function* recordingOfJournal(
  records: Iterable<JournalRecord> | AsyncIterable<JournalRecord>,
  { agents, ...options }: JournalRecordingOptions = {},
): AsyncGenerator<Frame> {
  const problems: string[] = []
  const logs = await allLogs(await readAll(records), agents, problems)
  const frames: Frame[] = []
  let clock = timeOf(logs[0]?.records[0], 0)
  const onFrame = (frame: Frame): void => void frames.push(frame)
  const recorder = createRecorder({ ...options, onFrame, now: () => clock, epoch: clock })
  const sessions = new Map(logs.map((log) => [log, new LoggedSession(log.records, recorder, log.call)]))
  for (const [log, record] of inTime(logs)) {
    clock = Math.max(clock, timeOf(record, clock))
    inRecord(log, record, () => sessions.get(log)?.take(record))
    // the recorder looks at questions when the charts are at rest
    await undefined
    yield* frames.splice(0)
  }
  for (const problem of problems) sessions.get(logs[0] as Log)?.note(problem)
  for (const session of sessions.values()) session.end()
  await undefined
  yield* frames
}

/** The same for a session of a store, with the agents inside it. */
export const recordingOfSession = (
  journals: Pick<JournalStore, 'read'>,
  id: string,
  options: Omit<JournalRecordingOptions, 'agents'> = {},
): AsyncGenerator<Frame> =>
  recordingOfJournal(journals.read(id), { ...options, agents: (session) => journals.read(session) })

async function readAll(records: Iterable<JournalRecord> | AsyncIterable<JournalRecord>): Promise<JournalRecord[]> {
  const all: JournalRecord[] = []
  for await (const record of records) all.push(record)
  return all
}

async function allLogs(
  outer: readonly JournalRecord[],
  agents: JournalRecordingOptions['agents'],
  problems: string[],
): Promise<Log[]> {
  const id = String(outer[0]?.id ?? '')
  const logs: Log[] = [{ id, records: outer, call: undefined }]
  const known = new Set([id])
  // the list grows while it is read: agents inside agents
  for (const log of logs) {
    for (const { t, session, call } of log.records) {
      const inner = String(session)
      if (t !== 'agent.started' || agents === undefined || known.has(inner) || known.size > mostAgents) continue
      known.add(inner)
      try {
        logs.push({ id: inner, records: await readAll(agents(inner)), call: String(call) })
      } catch (error) {
        // the process ended before the agent began
        if (isSignalboxError(error) && error.code === 'session_not_found') continue
        problems.push(`The log of the agent ${inner} cannot be read: ${describeError(error)}`)
      }
    }
  }
  return logs
}

/** All records by time. The order within a log is that of the log, whatever its clock did. */
function* inTime(logs: readonly Log[]): Generator<[Log, JournalRecord]> {
  const heads = logs.map((log) => ({ log, next: 0, time: timeOf(log.records[0], 0) }))
  for (;;) {
    const left = heads.filter(({ log, next }) => next < log.records.length)
    const [first] = left
    if (first === undefined) return
    const head = left.reduce((least, each) => (each.time < least.time ? each : least), first)
    yield [head.log, head.log.records[head.next++] as JournalRecord]
    head.time = Math.max(head.time, timeOf(head.log.records[head.next], 0))
  }
}

const timeOf = (record: JournalRecord | undefined, otherwise: number): number =>
  Number.isFinite(record?.at) ? (record as JournalRecord).at : otherwise

/** The fields of a record may be anything: somebody may have edited the log. */
function inRecord({ id }: Log, record: JournalRecord, act: () => void): void {
  try {
    checkRecord(id, record)
    act()
  } catch (error) {
    if (isSignalboxError(error)) throw error
    throw journalCorrupt(id, `record ${record.n}`, `its fields are not those of ${record.t}`, error)
  }
}
