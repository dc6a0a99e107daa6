import { deliverableOf, type ExecutorSchedule } from '../../machines/index.ts'
import { isReadOnly } from '../pipeline/classify-call.ts'
import { recordedCallOf } from '../pipeline/recorded-call.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'

/** The state of a call when its run was discarded. `started`: its body had begun. */
export interface DiscardedCall {
  id: string
  name: string
  started: boolean
  completed: boolean
}

export const callsSoFar = ({ calls }: ExecutorSchedule): DiscardedCall[] =>
  (calls as ToolCall[]).map(({ id, name, hasBegun, stage }) => ({
    id,
    name,
    started: hasBegun,
    completed: stage === 'completed' || stage === 'yielded',
  }))

/** Its question, or one of the agent in its body, waits for somebody who answers later. */
function isLater({ ref, ownContext }: ToolCall, isPaused: boolean): boolean {
  if (isPaused && ref?.getSnapshot().matches({ executing: { permission: 'later' } }) === true) return true
  return ownContext !== undefined && recordedCallOf(ownContext)?.isSuspended === true
}

/** For recorded calls: whether every unfinished call waits for a later answer. Asked whenever the charts are at rest. */
export function isStalled(run: ExecutorSchedule): boolean {
  const { executing, paused, calls, cursor } = run
  if (executing.size === 0 || deliverableOf(run).ready) return false
  for (const call of executing) if (!isLater(call as ToolCall, paused.has(call))) return false
  return !(calls.slice(cursor) as ToolCall[]).some(isBeingRecorded)
}

/** A result whose context modifier waits for an earlier call is in the log, with what it will change. */
const isBeingRecorded = ({ stage, isDurable, onContextApplied, contextAfter }: ToolCall): boolean =>
  stage === 'completed' && !isDurable && (onContextApplied === undefined || contextAfter !== undefined)

/** The body of a call that is not read-only has begun. */
export const hasEffects = ({ calls }: ExecutorSchedule): boolean =>
  (calls as ToolCall[]).some(
    ({ hasBegun, tool, reading }) =>
      hasBegun && !(tool !== undefined && reading.status === 'valid' && isReadOnly(tool, reading.input)),
  )
