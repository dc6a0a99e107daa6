import { askHost } from './asking.ts'
import { callTool } from './calling.ts'
import { conclude } from './completed.ts'
import { decide } from './deciding.ts'
import { formatResult } from './formatting.ts'
import { journalStart } from './journaling.ts'
import { awaitAnswer } from './later.ts'
import { takeLocks } from './locking.ts'
import { runPostHooks } from './post-hooks.ts'
import { runPreHooks } from './pre-hooks.ts'
import { recordResult } from './recording.ts'
import { recoverCall } from './recovering.ts'
import { startBackoff } from './retrying.ts'
import { startGrace } from './stopping.ts'
import type { TimedPhase } from './telemetry.ts'
import type { ToolCall } from './tool-call.ts'
import { validateCall } from './validating.ts'

export interface StateBody {
  /** The phase to which the time in this state counts. */
  readonly phase: TimedPhase
  /** Exported by the file with the name of the state. */
  readonly run: (call: ToolCall) => void
}

/** The function of each state of the call chart, called when the state is entered. The outbox runs it between steps. */
export const stateBodies = {
  recovering: { phase: 'recovering', run: recoverCall },
  locking: { phase: 'locking', run: takeLocks },
  journaling: { phase: 'journaling', run: journalStart },
  validating: { phase: 'validating', run: validateCall },
  preHooks: { phase: 'preHooks', run: runPreHooks },
  deciding: { phase: 'permission', run: decide },
  asking: { phase: 'permission', run: askHost },
  later: { phase: 'permission', run: awaitAnswer },
  calling: { phase: 'calling', run: callTool },
  retrying: { phase: 'retrying', run: startBackoff },
  stopping: { phase: 'stopping', run: startGrace },
  postHooks: { phase: 'postHooks', run: runPostHooks },
  formatting: { phase: 'formatting', run: formatResult },
  recording: { phase: 'recording', run: recordResult },
} satisfies Record<string, StateBody>

/** Runs inside the transition, because the call reports its completion to the executor chart in the same step. */
export const completedBody = { run: conclude }
