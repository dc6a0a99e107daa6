import type { RunState } from './turn-evidence.ts'

/** From here on nothing starts any more. */
export const isClosed = (run: RunState): boolean => run === 'aborted' || run === 'siblingErrored' || run === 'discarded'
