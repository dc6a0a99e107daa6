import type { Call } from './model.ts'

/** A selected part of the time. Every list shows only what happened in it. */
export type TimeRange = readonly [from: number, to: number]

export const isIn = (range: TimeRange | undefined, at: number): boolean =>
  range === undefined || (at >= range[0] && at <= range[1])

/** Whether a call waited, ran or was held in the range. */
export const touchesRange = (
  range: TimeRange | undefined,
  { addedAt, yieldedAt, completedAt, isGivenUp }: Call,
): boolean =>
  range === undefined ||
  (addedAt <= range[1] && (yieldedAt ?? (isGivenUp ? (completedAt ?? addedAt) : Number.POSITIVE_INFINITY)) >= range[0])

/** The part of a time span that is inside the range, in milliseconds. */
export const lengthIn = (range: TimeRange | undefined, from: number, to: number): number =>
  range === undefined ? to - from : Math.max(0, Math.min(to, range[1]) - Math.max(from, range[0]))
