import { journalError, sessionFenced } from '../../journal/journal-errors.ts'
import type { JournalSink } from '../../journal/journal-writer.ts'
import type { PendingRecord } from '../../journal/pending-records.ts'
import type { DiskFile } from './disk.ts'
import { crc32, type LogLines } from './log-lines.ts'
import type { ReadLog } from './read-log.ts'

/** The log of a session that this process has locked. */
export class LogFile implements JournalSink {
  readonly #id: string
  readonly #file: DiskFile
  readonly #lines: LogLines
  readonly #release: () => Promise<void>
  #length: number
  #crc: number | undefined

  constructor(id: string, file: DiskFile, lines: LogLines, log: ReadLog, release: () => Promise<void>) {
    this.#id = id
    this.#file = file
    this.#lines = lines
    this.#release = release
    this.#length = log.length
    this.#crc = log.crc
  }

  /** Cuts off a torn tail. It becomes durable with the next commit. */
  async cutTail(): Promise<void> {
    if (this.#file.state().size > this.#length) await this.#file.truncate(this.#length)
  }

  async commit(records: readonly PendingRecord[]): Promise<void> {
    let text = ''
    let crc = this.#crc
    for (const record of records) {
      const made = this.#lines.write(record, crc)
      const line = made instanceof Promise ? await made : made
      crc = crc32(line)
      text += `${line}\n`
    }
    const data = Buffer.from(text)
    this.#checkOurs()
    try {
      await this.#file.write(data, this.#length)
      await this.#file.sync()
    } catch (error) {
      // records that may not be durable must not be read
      await this.#file.truncate(this.#length).catch(() => undefined)
      throw error
    }
    this.#length += data.length
    this.#crc = crc
  }

  async release(): Promise<void> {
    try {
      await this.#file.close()
    } finally {
      await this.#release()
    }
  }

  /** Detects that a person removed the lock while its owner was alive. */
  #checkOurs(): void {
    const { size, isNamed } = this.#file.state()
    if (!isNamed) throw journalError(this.#id, new Error('its file was removed'))
    if (size !== this.#length) throw sessionFenced(this.#id)
  }
}
