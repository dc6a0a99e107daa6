export const limitNames = [
  'turns',
  'calls',
  'inputTokens',
  'outputTokens',
  'costUsd',
  'durationMs',
  'agents',
  'depth',
] as const

export type LimitName = (typeof limitNames)[number]

export type Amounts = { readonly [Name in LimitName]?: number | undefined }

/** One set of limits, what counts against it, and what requests under way may still use. */
export interface Budget {
  readonly limits: Amounts
  readonly used: Amounts
  readonly reserved: Amounts
}

/** A limit that ends a run: `used` when it was reached. */
export interface LimitReached {
  readonly limit: LimitName
  readonly used: number
  readonly max: number
}

export type Reserving =
  | { readonly ok: true }
  /** Blocked only by what others have reserved and may not use. */
  | { readonly ok: false; readonly because: 'reserved' }
  | { readonly ok: false; readonly because: 'limit'; readonly at: number; readonly reached: LimitReached }

/** The limits that a request is measured by. Calls, agents and depth are checked when there is one more of them. */
const ofRequests = ['turns', 'inputTokens', 'outputTokens', 'costUsd', 'durationMs'] as const

/** Whether a request may be made that could use the amounts `wanted`, under every budget that it belongs to. */
export function judgeReserve(budgets: readonly Budget[], wanted: Amounts): Reserving {
  let isBlocked = false
  for (const [at, { limits, used, reserved }] of budgets.entries()) {
    for (const name of ofRequests) {
      const max = limits[name]
      if (max === undefined) continue
      const spent = used[name] ?? 0
      const needed = spent + (wanted[name] ?? 0)
      if (needed > max || (name === 'durationMs' && spent >= max)) {
        return { ok: false, because: 'limit', at, reached: { limit: name, used: spent, max } }
      }
      if (needed + (reserved[name] ?? 0) > max) isBlocked = true
    }
  }
  return isBlocked ? { ok: false, because: 'reserved' } : { ok: true }
}

/** Whether one more is too many. */
export function judgeOneMore(
  { limits }: Pick<Budget, 'limits'>,
  limit: LimitName,
  used: number,
): LimitReached | undefined {
  const max = limits[limit]
  return max !== undefined && used + 1 > max ? { limit, used, max } : undefined
}

/** The share of a limit from which the host is warned. */
const nearShare = 0.8

export const isNear = (used: number, max: number): boolean => used >= max * nearShare

/** How long until time is nearly up, or up. */
export const nextDue = (usedMs: number, maxMs: number, isWarned: boolean): number =>
  Math.max(0, (isWarned ? maxMs : maxMs * nearShare) - usedMs)
