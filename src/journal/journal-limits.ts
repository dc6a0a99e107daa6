import { unknownOption } from '../base/invalid-option.ts'
import { aNumberAbove0, checkOption } from '../base/option-rules.ts'

/** How much one session may keep. */
export interface JournalLimits {
  /**
   * Bytes of one record, without fields that are large enough for a blob.
   * @default 1 MB
   */
  readonly recordBytes?: number | undefined
  /**
   * Bytes of one session, all records and blobs together.
   * @default 256 MB
   */
  readonly sessionBytes?: number | undefined
  /** @default 100,000 */
  readonly records?: number | undefined
}

const megabyte = 1_000_000
const defaults = { recordBytes: megabyte, sessionBytes: 256 * megabyte, records: 100_000 }

export type CheckedLimits = typeof defaults

/** A field whose JSON is longer than this is a blob: it does not count as part of its record. */
export const blobBytes = 256_000

export function checkLimits(limits: JournalLimits = {}): CheckedLimits {
  const checked = { ...defaults }
  for (const [name, value] of Object.entries(limits)) {
    if (!(name in defaults)) unknownOption(`limits.${name}`, Object.keys(defaults))
    if (value === undefined) continue
    checkOption(`limits.${name}`, value, aNumberAbove0)
    checked[name as keyof CheckedLimits] = value
  }
  return checked
}

/** In UTF-8, counted without a copy: every record is counted. */
export function bytesOf(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    // a pair of surrogates takes four bytes, two for each
    const isPair = code >= 0xd800 && code <= 0xdfff
    bytes += code < 0x800 || isPair ? 1 : 2
  }
  return bytes
}

/** The fields of a record that are large enough for a blob, each as JSON. */
export function largeFields(record: Readonly<Record<string, unknown>>): Map<string, string> {
  const large = new Map<string, string>()
  for (const [name, value] of Object.entries(record)) {
    const text = typeof value === 'object' || typeof value === 'string' ? JSON.stringify(value) : undefined
    if (text !== undefined && bytesOf(text) > blobBytes) large.set(name, text)
  }
  return large
}
