import { isSignalboxError, type SignalboxError } from '../../base/signalbox-error.ts'
import type { JournalRecord } from '../../journal/journal.ts'
import { journalCorrupt } from '../../journal/journal-errors.ts'
import { bytesOf } from '../../journal/journal-limits.ts'
import { crc32, type LogLine, type LogLines } from './log-lines.ts'

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
}

export const noLog: ReadLog = { records: [], length: 0, crc: undefined, bytes: 0, blobs: [] }

/** Called for a broken record instead of throwing; the records before it are returned. */
export type OnDamage = (error: SignalboxError) => void

const lineEnd = 10

/**
 * Reads the lines up to the last whole one. Throws `journal_corrupt` at a broken one before the end: what was once
 * durable must not be cut off.
 */
export async function readLog(id: string, data: Uint8Array, lines: LogLines, onDamage?: OnDamage): Promise<ReadLog> {
  const log: Growing = { ...noLog, records: [], blobs: [] }
  try {
    await readLines(id, data, lines, log)
  } catch (error) {
    if (onDamage === undefined || !isSignalboxError(error) || error.code !== 'journal_corrupt') throw error
    onDamage(error)
  }
  return log
}

type Growing = { -readonly [Field in keyof ReadLog]: ReadLog[Field] }

async function readLines(id: string, data: Uint8Array, lines: LogLines, log: Growing): Promise<void> {
  for (let end = data.indexOf(lineEnd); end >= 0; end = data.indexOf(lineEnd, log.length)) {
    const bytes = data.subarray(log.length, end)
    // a hole of a page that never reached the disk: JSON has no such byte
    if (end === data.length - 1 && bytes.includes(0)) break
    const n = log.records.length
    const position = { n, byte: log.length }
    const line = parseLine(id, bytes, log.crc, position)
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
