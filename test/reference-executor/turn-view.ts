/** The traits of a call; they describe the executor's tool and the model's call. */
export interface CallTraits {
  readonly safe: boolean
  /** Its interrupt behaviour is `'cancel'`, otherwise `'block'`. */
  readonly cancel: boolean
  /** Its own failure cancels its siblings. */
  readonly cascades: boolean
  /** Its body settles when its signal aborts; otherwise it continues. */
  readonly obedient: boolean
  /** Its tool names resources. */
  readonly keyed: boolean
}

export interface Keys {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

export interface CallPlan extends CallTraits {
  readonly keys: Keys
  /** The resources that it gets if the host changes its input. */
  readonly otherKeys: Keys
  readonly fault: 'none' | 'unknown' | 'invalid'
  /** The host is asked, and a later move is its answer. */
  readonly asks: boolean
  readonly hold: boolean
}

export interface TurnPlan {
  readonly maxConcurrency: number
  readonly maxBufferedProgress: number
  /** Whether the host decides about each call, or allows everything without a question. */
  readonly hostAsks: boolean
  /** The reason with which the host's controller was aborted before the turn. */
  readonly abortedBefore: AbortWord | undefined
}

export type AbortWord = 'interrupt' | 'escape'
export type Answer = 'allow' | 'allow with other keys' | 'deny' | 'deny and stop'

export const graceMs = 100

export const unknownName = 'nowhere'

/** The name of the tool with these traits. */
export const toolName = ({ safe, cancel, cascades, obedient, keyed }: CallTraits): string =>
  [
    safe ? 'safe' : 'unsafe',
    ...(keyed ? ['keyed'] : []),
    cancel ? 'cancel' : 'block',
    ...(cascades ? ['cascading'] : []),
    obedient ? 'obedient' : 'stubborn',
  ].join('_')

/** Everything that is visible of a turn from outside. */
export interface TurnView {
  readonly gate: string
  readonly run: string
  /** The reason with which the host's controller is aborted. */
  readonly hostAbort: string
  /** Each call's state, in emission order. */
  readonly states: readonly string[]
  /** Calls in the order in which their bodies started. */
  readonly started: readonly string[]
  /** Calls in the order in which the host was asked. */
  readonly asked: readonly string[]
  /** The reason with which each started body was told to stop. */
  readonly signals: readonly string[]
  /** All messages that any reader got, in order. */
  readonly handedOver: readonly string[]
  /** How many messages the sleeping readers still want. */
  readonly wanted: number
  readonly inProgress: readonly string[]
  readonly interruptible: boolean
  /** Abandoned bodies, late messages and all other warnings; sorted. */
  readonly warnings: readonly string[]
}

export const openEnd = 1_000_000

/** Where the contract makes no statement. */
export const anything = 'anything'
