import { type Encoded, type EncodeLimits, encodeValue, type Stand } from './encode-value.ts'

/** The meaning of a value, so that `redact` can decide how to show it. */
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
    | 'rule'
    | 'worker'
  readonly toolName?: string
  readonly toolUseID?: string
  /** The server's name, if the value belongs to a connection. */
  readonly server?: string
}

/** Returns the value to show: unchanged, changed, or a replacement. */
export type Redact = (value: unknown, where: Where) => unknown

/** A value after `redact`, before it is encoded. */
export type Hide = (value: unknown, where: Where) => unknown

const withheld = Symbol('withheld')

/** For values that others are derived from: a label from an input. If `redact` throws, nothing can be derived. */
export const hideWith =
  (redact: Redact | undefined): Hide =>
  (value, where) => {
    if (redact === undefined) return value
    try {
      return redact(value, where)
    } catch {
      return withheld
    }
  }

export type Show = (value: unknown, where: Where) => Encoded

/** All data from hosts and models passes through here before it is shown. If `redact` throws, nothing is shown. */
export function showWith(redact: Redact | undefined, limits: EncodeLimits, stand: Stand): Show {
  const encode = (value: unknown): Encoded =>
    value === withheld ? { $: 'withheld' } : encodeValue(value, limits, stand)
  if (redact === undefined) return encode
  return (value, where) => {
    try {
      return value === withheld ? encode(value) : encode(redact(value, where))
    } catch {
      return { $: 'withheld' }
    }
  }
}
