/** Why a call is told to stop, strongest first: when several hold, the one listed first wins. */
export const stopPrecedence = [
  'streaming_fallback',
  'sibling_error',
  'user_interrupted',
  'withdrawn',
  'timeout',
] as const

export type StopKind = (typeof stopPrecedence)[number]

export type AbortKind = Exclude<StopKind, 'timeout'>

/** An abort that came from outside the call. `reason` is what the call's own signal will carry. */
export interface AbortCause {
  readonly kind: AbortKind
  readonly reason: unknown
  /** For `sibling_error` the call that failed, as people read it, such as `Bash(npm test)`; for `withdrawn` why. */
  readonly description?: string
}

/** The call ran out of its own time: an error of its own, not an abort. */
export interface TimeoutCause {
  readonly kind: 'timeout'
  readonly reason: unknown
  readonly limit: 'total' | 'idle'
  readonly ms: number
}

export type StopCause = AbortCause | TimeoutCause

/** The one merge rule: the stronger cause stays, and of two equal ones the earlier. */
export function strongerCause<Cause extends StopCause>(held: Cause | undefined, arriving: Cause): Cause {
  if (held === undefined) return arriving
  return stopPrecedence.indexOf(arriving.kind) < stopPrecedence.indexOf(held.kind) ? arriving : held
}
