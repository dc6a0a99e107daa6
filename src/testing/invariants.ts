import { abortReachesAll, interruptSparesOthers, noStartAfterAbort, strongestReasonWins } from './abort-invariants.ts'
import {
  denyMeansNeverRun,
  exclusivity,
  gateSaysWhoRuns,
  nobodyWaitsForNothing,
  noOvertaking,
} from './gate-invariants.ts'
import type { Invariant } from './invariant.ts'
import {
  emissionOrder,
  everyProgressArrives,
  nothingLeftBehind,
  oneResultPerCall,
  ownOutcomeStands,
  progressBeforeResult,
  readersAreWoken,
  transcriptValid,
} from './result-invariants.ts'

export * from './abort-invariants.ts'
export * from './gate-invariants.ts'
export * from './result-invariants.ts'

/** What has to hold of every turn, whatever the tools do. */
export const turnInvariants: readonly Invariant[] = [
  oneResultPerCall,
  emissionOrder,
  exclusivity,
  noOvertaking,
  gateSaysWhoRuns,
  noStartAfterAbort,
  progressBeforeResult,
  everyProgressArrives,
  nothingLeftBehind,
  transcriptValid,
  denyMeansNeverRun,
  nobodyWaitsForNothing,
  abortReachesAll,
  interruptSparesOthers,
  strongestReasonWins,
  ownOutcomeStands,
  readersAreWoken,
]
