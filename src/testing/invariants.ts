import { abortReachesAll, interruptSparesOthers, noStartAfterAbort, strongestReasonWins } from './abort-invariants.ts'
import { explanationsAreTrue } from './explanation-invariant.ts'
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
export * from './explanation-invariant.ts'
export * from './gate-invariants.ts'
export * from './result-invariants.ts'

/** Conditions that must hold in every turn, whatever the tools do. */
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
  explanationsAreTrue,
  abortReachesAll,
  interruptSparesOthers,
  strongestReasonWins,
  ownOutcomeStands,
  readersAreWoken,
]

/** The invariants that can be checked on a recording. */
export const recordingInvariants: readonly Invariant[] = turnInvariants.filter(({ isLiveOnly }) => isLiveOnly !== true)
