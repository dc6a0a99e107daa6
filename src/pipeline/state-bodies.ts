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
  /** The job for the outbox: made once per state, so that entering one creates no closure. */
  readonly enter: (call: ToolCall) => void
}

function body(phase: TimedPhase, run: StateBody['run']): StateBody {
  const made: StateBody = { phase, run, enter: (call) => call.runState(made) }
  return made
}

/** The function of each state of the call chart, called when the state is entered. The outbox runs it between steps. */
export const stateBodies = {
  recovering: body('recovering', recoverCall),
  locking: body('locking', takeLocks),
  journaling: body('journaling', journalStart),
  validating: body('validating', validateCall),
  preHooks: body('preHooks', runPreHooks),
  deciding: body('permission', decide),
  asking: body('permission', askHost),
  later: body('permission', awaitAnswer),
  calling: body('calling', callTool),
  retrying: body('retrying', startBackoff),
  stopping: body('stopping', startGrace),
  postHooks: body('postHooks', runPostHooks),
  formatting: body('formatting', formatResult),
  recording: body('recording', recordResult),
} satisfies Record<string, StateBody>

/** Runs inside the transition, because the call reports its completion to the executor chart in the same step. */
export const completedBody = { run: conclude }
