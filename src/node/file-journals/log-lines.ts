import * as zlib from 'node:zlib'
import { blobBytes, bytesOf, largeFields } from '../../journal/journal-limits.ts'
import type { PendingRecord } from '../../journal/pending-records.ts'
import { readBlob, writeBlob } from './blobs.ts'
import type { Disk } from './disk.ts'
import type { Sealer } from './options.ts'
import type { SessionFiles } from './session-files.ts'

/** A line of the log as JSON: the store's own fields, and those of the record that are neither sealed nor blobs. */
export interface LogLine {
  readonly n: number
  readonly at: number
  readonly c?: number
  readonly t: string
  /** Names of blobs by field. */
  readonly blobs?: Readonly<Record<string, string>>
  /** The sealed fields. */
  readonly sealed?: string
  readonly [field: string]: unknown
}

/**
 * The first byte of a line that begins a commit. Everything before such a line was durable before it was written. JSON
 * allows a space there.
 */
export const commitMark = ' '

/** Fields that stay readable in a sealed record, so that a reader can detect a newer version. */
const openFields = ['t', 'v', 'optional']

/** Turns records into lines and back. */
export class LogLines {
  readonly #disk: Disk
  readonly #files: SessionFiles
  readonly #sealer: Sealer

  constructor(disk: Disk, files: SessionFiles, sealer: Sealer) {
    this.#disk = disk
    this.#files = files
    this.#sealer = sealer
  }

  /** One line without its end: at once, unless it is sealed or has blobs, which are durable when it resolves. */
  write({ n, at, body }: PendingRecord, crc: number | undefined): string | Promise<string> {
    const head = `{"n":${n},"at":${at},${crc === undefined ? '' : `"c":${crc},`}`
    // no character takes more than three bytes
    const isShort = body.length * 3 <= blobBytes || bytesOf(body) <= blobBytes
    return isShort && !this.#sealer.isSealing ? head + body.slice(1) : this.#writeParts(n, head, body)
  }

  async #writeParts(n: number, head: string, body: string): Promise<string> {
    const fields: Record<string, unknown> = JSON.parse(body)
    const blobs: Record<string, string> = {}
    for (const [name, text] of largeFields(fields)) {
      blobs[name] = await writeBlob(this.#disk, this.#files, await this.#sealer.seal(text, this.#about(n, name)))
      delete fields[name]
    }
    const line = { ...(await this.#sealed(n, fields)), ...(Object.keys(blobs).length > 0 && { blobs }) }
    return head + JSON.stringify(line).slice(1)
  }

  /** The record of a line. Throws if it cannot be opened. */
  async read({ c: _, blobs = {}, sealed, ...fields }: LogLine): Promise<Record<string, unknown>> {
    const { n } = fields
    const secret = sealed === undefined ? {} : JSON.parse(await this.#sealer.open(sealed, this.#about(n)))
    const record: Record<string, unknown> = { ...fields, ...secret }
    for (const [name, blob] of Object.entries(blobs)) {
      const text = await readBlob(this.#disk, this.#files, blob)
      record[name] = JSON.parse(sealed === undefined ? text : await this.#sealer.open(text, this.#about(n, name)))
    }
    return record
  }

  async #sealed(n: number, fields: Record<string, unknown>): Promise<Record<string, unknown>> {
    if (!this.#sealer.isSealing) return fields
    const [shown, secret]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}]
    for (const [name, value] of Object.entries(fields)) (openFields.includes(name) ? shown : secret)[name] = value
    return { ...shown, sealed: await this.#sealer.seal(JSON.stringify(secret), this.#about(n)) }
  }

  #about(n: number, field?: string): string {
    return `${this.#files.name} record ${n}${field === undefined ? '' : ` field ${field}`}`
  }
}

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** The CRC-32 of zip and Ethernet, written out. */
export function slowCrc32(data: string | Uint8Array): number {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data
  let crc = 0xffffffff
  for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] as number)) & 0xff] as number)
  return (crc ^ 0xffffffff) >>> 0
}

/** That of Node takes a tenth of the time, but is missing in early versions of Node 20. */
export const crc32: typeof slowCrc32 = (zlib as { crc32?: typeof slowCrc32 }).crc32 ?? slowCrc32
