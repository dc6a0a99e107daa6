import { isSignalboxError, type SignalboxError } from '../../base/signalbox-error.ts'
import type { JournalRecord } from '../../journal/journal.ts'
import { journalCorrupt } from '../../journal/journal-errors.ts'
import { bytesOf } from '../../journal/journal-limits.ts'
import { commitMark, crc32, type LogLine, type LogLines } from './log-lines.ts'

/** The content of a log file. */
export interface ReadLog {
  readonly records: JournalRecord[]
  /** Bytes up to the end of the last complete record. The rest is a torn tail. */
  readonly length: number
  /** The CRC-32 of the last line. */
  readonly crc: number | undefined
  /** Bytes of all records, with their blobs. */
  readonly bytes: number
  /** Names of all blobs that the records refer to. */
  readonly blobs: string[]
  /** The `journal_corrupt` of a broken record. The records are those before it. */
  readonly damage: SignalboxError | undefined
}

export const noLog: ReadLog = { records: [], length: 0, crc: undefined, bytes: 0, blobs: [], damage: undefined }

const lineEnd = 10
const mark = commitMark.charCodeAt(0)

/**
 * Reads the lines up to the last whole one. A broken one before the end is damage, unless its commit was never durable: what
 * was once durable must not be cut off.
 */
export async function readLog(id: string, data: Uint8Array, lines: LogLines): Promise<ReadLog> {
  const log: Growing = { ...noLog, records: [], blobs: [] }
  try {
    await readLines(id, data, lines, log)
  } catch (error) {
    if (!isSignalboxError(error) || error.code !== 'journal_corrupt') throw error
    log.damage = error
  }
  return log
}

type Growing = { -readonly [Field in keyof ReadLog]: ReadLog[Field] }

async function readLines(id: string, data: Uint8Array, lines: LogLines, log: Growing): Promise<void> {
  let hasMarks = false
  for (let end = data.indexOf(lineEnd); end >= 0; end = data.indexOf(lineEnd, log.length)) {
    const bytes = data.subarray(log.length, end)
    const n = log.records.length
    hasMarks ||= bytes[0] === mark || (n === 0 && isFirstCommit(bytes, data.subarray(end)))
    const position = { n, byte: log.length }
    let line: LogLine
    try {
      line = parseLine(id, bytes, log.crc, position)
    } catch (error) {
      if (isIncomplete(bytes) && isLastCommit(data.subarray(end), hasMarks)) break
      throw error
    }
    const reading = readRecord(id, line, lines, position)
    // no tick for each of thousands of plain records
    const record = reading instanceof Promise ? await reading : reading
    log.records.push(record)
    log.bytes += line.blobs === undefined ? bytes.length : bytesOf(JSON.stringify(record))
    log.blobs.push(...Object.values(line.blobs ?? {}))
    log.crc = crc32(bytes)
    log.length = end + 1
  }
}

/** A part of the line never reached the disk: JSON has no such byte. */
const isIncomplete = (line: Uint8Array): boolean => line.includes(0)

/** Its mark is missing with its first byte: a log that has no more than the two lines of its first commit was never durable. */
function isFirstCommit(line: Uint8Array, rest: Uint8Array): boolean {
  const second = rest.indexOf(lineEnd, 1)
  return line[0] === 0 && (second < 0 || rest.indexOf(lineEnd, second + 1) < 0)
}

/**
 * After a power failure, any part of the last commit may be missing. A mark after it tells that it was durable. A log of an
 * early version has no marks: only its last line can be torn.
 */
function isLastCommit(rest: Uint8Array, hasMarks: boolean): boolean {
  if (!hasMarks) return rest.subarray(1).every((byte) => byte === 0)
  for (let end = 0; end >= 0; end = rest.indexOf(lineEnd, end + 1)) if (rest[end + 1] === mark) return false
  return true
}

/** Where a record begins. As text only in an error. */
interface Position {
  readonly n: number
  readonly byte: number
}

const words = ({ n, byte }: Position): string => `record ${n} (byte ${byte})`

function parseLine(id: string, bytes: Uint8Array, crc: number | undefined, position: Position): LogLine {
  let line: LogLine
  try {
    line = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  } catch (error) {
    throw journalCorrupt(id, words(position), 'the line is not JSON', error)
  }
  if (line?.n !== position.n)
    throw journalCorrupt(id, words(position), `expected record ${position.n}, found ${String(line?.n)}`)
  if (crc !== undefined && line.c !== crc)
    throw journalCorrupt(id, words(position), 'its checksum does not match the record before it')
  return line
}

function readRecord(
  id: string,
  line: LogLine,
  lines: LogLines,
  position: Position,
): Promise<JournalRecord> | JournalRecord {
  if (line.blobs === undefined && line.sealed === undefined) {
    const { c: _, ...record } = line
    return record
  }
  return lines.read(line).then(
    (record) => record as unknown as JournalRecord,
    (error: unknown) => {
      if (isSignalboxError(error)) throw error
      throw journalCorrupt(id, words(position), error instanceof Error ? error.message : String(error), error)
    },
  )
}
