import type { RunState } from './turn-evidence.ts'

/** No call can start in this state. */
export const isClosed = (run: RunState): boolean => run === 'aborted' || run === 'siblingErrored' || run === 'discarded'
