import { type Encoded, type EncodeLimits, encodeValue, type Stand } from './encode-value.ts'

/** What a value is, so that `redact` can decide how to show it. */
export interface Where {
  readonly what:
    | 'input'
    | 'result'
    | 'progress'
    | 'question'
    | 'event'
    | 'context'
    | 'reason'
    | 'label'
    | 'key'
    | 'warning'
    | 'said'
  readonly toolName?: string
  readonly toolUseID?: string
  /** The server's name, if the value belongs to a connection. */
  readonly server?: string
}

/** Returns the value to show: unchanged, changed, or a replacement. */
export type Redact = (value: unknown, where: Where) => unknown

export type Show = (value: unknown, where: Where) => Encoded

/** All data from hosts and models passes through here before it is shown. If `redact` throws, nothing is shown. */
export function showWith(redact: Redact | undefined, limits: EncodeLimits, stand: Stand): Show {
  if (redact === undefined) return (value) => encodeValue(value, limits, stand)
  return (value, where) => {
    try {
      return encodeValue(redact(value, where), limits, stand)
    } catch {
      return { $: 'withheld' }
    }
  }
}
