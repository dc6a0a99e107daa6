/** How far the aborts have come, the weakest first. */
const strength = ['clear', 'interrupted', 'aborted', 'siblingErrored', 'discarded'] as const

export type RunState = (typeof strength)[number]

export const isStronger = (one: RunState, other: RunState): boolean => strength.indexOf(one) > strength.indexOf(other)

/** Where a user's abort leads. */
export const runStateOf = (reason: string): RunState => (reason === 'interrupt' ? 'interrupted' : 'aborted')
