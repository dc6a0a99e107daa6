import { invalidOption, unknownOption } from '../../base/invalid-option.ts'
import { SignalboxError } from '../../base/signalbox-error.ts'
import type { SessionSummary } from '../../journal/journal.ts'
import { checkLimits, type JournalLimits } from '../../journal/journal-limits.ts'
import type { StoredResults } from '../../journal/session-results.ts'

/** Encrypts the content of records, blobs and notes. Types, numbers and times of records stay readable. */
export interface Seal {
  /** `about` names the place of the text. Use it as additional authenticated data. Returns one text. */
  encrypt(text: string, about: string): string | Promise<string>
  decrypt(sealed: string, about: string): string | Promise<string>
}

export interface FileJournalsOptions {
  /** The folder for the files. Created if missing, and closed to other users. */
  readonly folder: string
  readonly limits?: JournalLimits | undefined
  readonly seal?: Seal | undefined
  /** Changes the summaries that `list` returns. */
  readonly redact?: ((summary: SessionSummary) => SessionSummary) | undefined
  /** The store of long results that sessions refer to. It keeps them as long as their session. */
  readonly results?: StoredResults | undefined
  /**
   * How often an owner polls for notes, in case the file system reports no changes. At least 1,000.
   * @default 2_000
   */
  readonly rescanMs?: number | undefined
}

const names = ['folder', 'limits', 'seal', 'redact', 'results', 'rescanMs']

export function checkFileJournals(options: FileJournalsOptions): FileJournalsOptions {
  if (typeof options !== 'object' || options === null) invalidOption('options', 'an object with folder', options)
  const { folder, limits, seal, redact, rescanMs = 2_000 } = options
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) unknownOption(unknown, names)
  if (typeof folder !== 'string' || folder === '') invalidOption('folder', 'a path', folder)
  if (seal !== undefined && (typeof seal.encrypt !== 'function' || typeof seal.decrypt !== 'function'))
    invalidOption('seal', 'an object with encrypt and decrypt', seal)
  if (redact !== undefined && typeof redact !== 'function') invalidOption('redact', 'a function', redact)
  if (!(rescanMs >= 1_000)) invalidOption('rescanMs', 'at least 1000 milliseconds', rescanMs)
  checkLimits(limits)
  return options
}

/** Encrypts and decrypts if there is a seal. `about` names the place of a text, so that a text cannot be moved elsewhere. */
export interface Sealer {
  readonly isSealing: boolean
  seal(text: string, about: string): Promise<string>
  open(sealed: string, about: string): Promise<string>
}

export const sealer = (seal: Seal | undefined): Sealer => ({
  isSealing: seal !== undefined,
  seal: async (text, about) => (seal === undefined ? text : await seal.encrypt(text, about)),
  async open(sealed, about) {
    if (seal === undefined) throw new SignalboxError('invalid_option', 'The journals are sealed. Pass the option seal.')
    return await seal.decrypt(sealed, about)
  },
})
