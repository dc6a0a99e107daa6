import { SignalboxError } from '../errors/signalbox-error.ts'
import type { Command, EncodeLimits, Redact } from '../inspect/index.ts'
import type { Invariant } from '../testing/invariant.ts'
import { describeValue } from '../text/describe-value.ts'

export interface InspectorOptions {
  /**
   * 0 takes any that is free.
   * @default 0
   */
  port?: number | undefined
  /**
   * What the browser may do. It always may look.
   * @default nothing
   */
  commands?: boolean | readonly Command[] | undefined
  /**
   * `whenWatched`: nothing is recorded, and nothing paid, until a browser is there. `always`: who comes late sees all.
   * @default 'whenWatched'
   */
  record?: 'whenWatched' | 'always' | undefined
  /** Decides what may be shown of inputs, results and everything else that is not the charts' own. */
  redact?: Redact | undefined
  /** How much of a value is shown. */
  limits?: EncodeLimits | undefined
  /** Serves this recording instead of a live executor. */
  recording?: string | undefined
  /** A coverage file of the testing kit, shown as heat on the charts. */
  coverage?: string | undefined
  /** Rules of your own, checked while it is watched: the page shows where they do not hold, beside the built-in ones. */
  invariants?: readonly Invariant[] | undefined
  /**
   * Whether the process stays up for the inspector alone.
   * @default false
   */
  keepsProcess?: boolean | undefined
  /** @default 20 */
  maxClients?: number | undefined
  /** How long a browser may leave a batch unacknowledged before it is dropped. @default 30_000 */
  ackTimeoutMs?: number | undefined
  /** How many bytes of frames are kept. @default 64_000_000 */
  maxHistoryBytes?: number | undefined
  /** Another place for the built app. */
  appFolder?: string | undefined
  /** Pages from elsewhere that may connect, such as a development server's. */
  origins?: readonly string[] | undefined
}

export function assertOptions({ port, record, commands, maxClients }: InspectorOptions): void {
  const fail = (option: string, expected: string, came: unknown): never => {
    throw new SignalboxError('invalid_option', `${option} must be ${expected}, but got ${describeValue(came, 80)}.`)
  }
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536)) fail('port', 'a port number', port)
  if (record !== undefined && record !== 'always' && record !== 'whenWatched') {
    fail('record', "'always' or 'whenWatched'", record)
  }
  if (commands !== undefined && typeof commands !== 'boolean' && !Array.isArray(commands)) {
    fail('commands', 'a boolean or a list', commands)
  }
  if (maxClients !== undefined && !(Number.isInteger(maxClients) && maxClients > 0)) {
    fail('maxClients', 'a whole number from 1', maxClients)
  }
}
