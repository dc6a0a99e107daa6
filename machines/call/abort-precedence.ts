/** Why a call is told to stop, strongest first: if several apply, the first one wins. */
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
  /** For `sibling_error` the failed call for people, such as `Bash(npm test)`; for `withdrawn` the reason. */
  readonly description?: string
}

/** The call hit its own timeout: an error of its own, not an abort. */
export interface TimeoutCause {
  readonly kind: 'timeout'
  readonly reason: unknown
  readonly limit: 'total' | 'idle'
  readonly ms: number
}

export type StopCause = AbortCause | TimeoutCause

/** The only merge rule: the stronger cause wins; of two equal ones the earlier. */
export function strongerCause<Cause extends StopCause>(held: Cause | undefined, arriving: Cause): Cause {
  if (held === undefined) return arriving
  return stopPrecedence.indexOf(arriving.kind) < stopPrecedence.indexOf(held.kind) ? arriving : held
}
