import { type Encoded, type EncodeLimits, encodeValue, type Stand } from './encode-value.ts'

/** What a value is, for whoever decides what may be shown of it. */
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
    | 'warning'
    | 'said'
  readonly toolName?: string
  readonly toolUseID?: string
  /** The server that it is about, where it is about a connection. */
  readonly server?: string
}

/** Returns the value as it may be shown: as it is, changed, or something in its place. */
export type Redact = (value: unknown, where: Where) => unknown

export type Show = (value: unknown, where: Where) => Encoded

/** Everything that a host or a model wrote passes through here on its way out. A hook that throws shows nothing. */
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
