import { journalError, sessionFenced } from '../../journal/journal-errors.ts'
import type { JournalSink } from '../../journal/journal-writer.ts'
import type { PendingRecord } from '../../journal/pending-records.ts'
import type { DiskFile } from './disk.ts'
import { commitMark, crc32, type LogLines } from './log-lines.ts'
import type { ReadLog } from './read-log.ts'

/**
 * The file grows in steps of this size. A line that is written over spare space becomes durable in less time than one that
 * makes the file longer. All usual programs read and copy files in multiples of this size, so none meets a step in two parts.
 */
const step = 16_384

/** JSON has no such byte, and a part of a file that never reached the disk reads the same. */
const spare = 0

const spareSpace = Buffer.alloc(step, spare)

/** The log of a session that this process has locked. */
export class LogFile implements JournalSink {
  readonly #id: string
  readonly #file: DiskFile
  readonly #lines: LogLines
  readonly #release: () => Promise<void>
  /** The end of the last line. Spare space follows, up to the size of the file. */
  #length: number
  #size: number
  #crc: number | undefined
  #hasCommitted = false

  constructor(id: string, file: DiskFile, lines: LogLines, log: ReadLog, release: () => Promise<void>) {
    this.#id = id
    this.#file = file
    this.#lines = lines
    this.#release = release
    this.#length = log.length
    this.#size = log.length
    this.#crc = log.crc
  }

  /** Cuts off a torn tail and spare space. The lines become durable: a process that was killed may not have come to it. */
  async cutTail(): Promise<void> {
    const size = this.#file.size()
    if (size > this.#length) await this.#file.truncate(this.#length)
    // a tail that comes back after a power failure must not follow what is written next
    if (size > 0) await this.#file.sync()
  }

  async commit(records: readonly PendingRecord[]): Promise<void> {
    let text = ''
    let crc = this.#crc
    for (const record of records) {
      const made = this.#lines.write(record, crc)
      const body = made instanceof Promise ? await made : made
      const line = text === '' ? commitMark + body : body
      crc = crc32(line)
      text += `${line}\n`
    }
    const data = Buffer.from(text)
    const end = this.#length + data.length
    this.#checkOurs(end)
    try {
      // no tick without need: meanwhile, the event loop may do other work
      const writing = this.#file.write(data, this.#length)
      if (writing !== undefined) await writing
      if (end > this.#size) await this.#grow(end)
      const syncing = this.#file.sync()
      // looks while the disk is busy
      const isNamed = this.#file.isNamed()
      await syncing
      if (!isNamed) throw journalError(this.#id, new Error('its file was removed'))
    } catch (error) {
      // records that may not be durable must not be read
      await this.#file.truncate(this.#length).catch(() => undefined)
      this.#size = this.#length
      throw error
    }
    this.#length = end
    this.#crc = crc
  }

  /** A line has made the file longer. */
  async #grow(end: number): Promise<void> {
    this.#size = end
    // a session that is only opened needs no space
    if (!this.#hasCommitted) {
      this.#hasCommitted = true
      return
    }
    try {
      const space = spareSpace.subarray(end % step)
      await this.#file.write(space, end)
      this.#size += space.length
    } catch {
      // the disk has room for the line only
      await this.#file.truncate(end)
    }
  }

  async release(): Promise<void> {
    try {
      await this.#giveBack()
      await this.#file.close()
    } finally {
      await this.#release()
    }
  }

  /** Cuts off spare space. A log that keeps it is as good. */
  async #giveBack(): Promise<void> {
    try {
      const hasSpare = this.#size > this.#length && this.#size === this.#file.size()
      if (hasSpare && this.#isOurs) await this.#file.truncate(this.#length)
    } catch {
      // the next owner does it
    }
  }

  /** Detects that a person removed the lock while its owner was alive. */
  #checkOurs(end: number): void {
    const isLonger = end > this.#size && this.#file.byteAt(this.#size) !== undefined
    if (!this.#isOurs || isLonger) throw sessionFenced(this.#id)
  }

  /** Nobody else has written where the next line goes. */
  get #isOurs(): boolean {
    return this.#file.byteAt(this.#length) === (this.#size > this.#length ? spare : undefined)
  }
}
