/** The abort states, weakest first. */
const strength = ['clear', 'interrupted', 'aborted', 'siblingErrored', 'discarded'] as const

export type RunState = (typeof strength)[number]

export const isStronger = (one: RunState, other: RunState): boolean => strength.indexOf(one) > strength.indexOf(other)

/** The state after an abort by the user. */
export const runStateOf = (reason: string): RunState => (reason === 'interrupt' ? 'interrupted' : 'aborted')
