import { invalidOption } from '../../base/invalid-option.ts'
import { aFlag, anArray, anIntegerFrom, checkOption, oneOf, or } from '../../base/option-rules.ts'
import type { JournalStore } from '../../journal/journal.ts'
import type { Invariant } from '../../testing/invariant.ts'
import type { Prices } from '../../usage/usage-total.ts'
import type { Command, EncodeLimits, Redact } from '../index.ts'

export interface InspectorOptions {
  /**
   * 0 picks a free port.
   * @default 0
   */
  port?: number | undefined
  /**
   * The commands that the browser may send. Watching is always allowed.
   * @default none
   */
  commands?: boolean | readonly Command[] | undefined
  /**
   * `whenWatched`: recording starts when a browser connects; until then it costs nothing. `always`: a browser that connects
   * late sees everything.
   * @default 'whenWatched'
   */
  record?: 'whenWatched' | 'always' | undefined
  /** Replaces values before they are shown: inputs, results and all other data that is not part of the charts. */
  redact?: Redact | undefined
  /** How much of a value is shown. */
  limits?: EncodeLimits | undefined
  /** Prices by model, to show what replies cost. */
  prices?: Prices | undefined
  /** Serves this recording instead of a live executor. */
  recording?: string | undefined
  /** A store of sessions: the page lists them and opens any of them as a recording. */
  journals?: Pick<JournalStore, 'list' | 'read'> | undefined
  /**
   * Serves only the page, to open recordings in it.
   * @default false
   */
  viewerOnly?: boolean | undefined
  /** The path of a coverage file from `signalbox/testing`, shown as heat on the charts. */
  coverage?: string | undefined
  /** Additional invariants. They are checked while a browser watches; the page shows breaches beside the built-in ones. */
  invariants?: readonly Invariant[] | undefined
  /**
   * Whether the server alone keeps the process alive.
   * @default false
   */
  keepsProcess?: boolean | undefined
  /** @default 20 */
  maxClients?: number | undefined
  /** How long a batch may stay unacknowledged before the browser is disconnected. @default 30_000 */
  ackTimeoutMs?: number | undefined
  /** How many bytes of frames are kept. @default 64_000_000 */
  maxHistoryBytes?: number | undefined
  /** The folder of the built app, if not the default. */
  appFolder?: string | undefined
  /**
   * The secret in the address, for an address that stays the same when the program starts again: at least 32 letters,
   * digits, `-` or `_`. Keep it as safe as a password.
   * @default a new random one
   */
  token?: string | undefined
  /** Origins of other pages that may connect, such as a development server. */
  origins?: readonly string[] | undefined
}

export function assertOptions({ port, record, commands, maxClients, token, journals }: InspectorOptions): void {
  if (journals !== undefined && (typeof journals?.list !== 'function' || typeof journals.read !== 'function'))
    invalidOption('journals', 'a journal store', journals)
  checkOption('port', port, anIntegerFrom(0, 65_535))
  checkOption('record', record, oneOf('always', 'whenWatched'))
  checkOption('commands', commands, or(aFlag, anArray))
  // the received value is a secret: it is not repeated
  if (token !== undefined && !(typeof token === 'string' && /^[\w-]{32,256}$/.test(token))) {
    invalidOption('token', '32 to 256 letters, digits, _ and -', typeof token)
  }
  checkOption('maxClients', maxClients, anIntegerFrom(1))
}
