import type { Call } from './model.ts'

/** A selected part of the time. Every list shows only what happened in it. */
export type TimeRange = readonly [from: number, to: number]

export const isIn = (range: TimeRange | undefined, at: number): boolean =>
  range === undefined || (at >= range[0] && at <= range[1])

/** Whether something that began and ended at these times, or has not ended, happened in the range too. */
export const touchesSpan = (range: TimeRange | undefined, from: number, to = Number.POSITIVE_INFINITY): boolean =>
  range === undefined || (from <= range[1] && to >= range[0])

/** Whether a call waited, ran or was held in the range. */
export const touchesRange = (
  range: TimeRange | undefined,
  { addedAt, yieldedAt, completedAt, isGivenUp }: Call,
): boolean => touchesSpan(range, addedAt, yieldedAt ?? (isGivenUp ? (completedAt ?? addedAt) : undefined))

/** The part of a time span that is inside the range, in milliseconds. */
export const lengthIn = (range: TimeRange | undefined, from: number, to: number): number =>
  range === undefined ? to - from : Math.max(0, Math.min(to, range[1]) - Math.max(from, range[0]))
