import type { CallRecord } from '../call/call-record.ts'
import type { ExecutorSchedule } from './executor-schedule.ts'

/** The call at the cursor: results are delivered in emission order, so nothing behind it can be taken. */
export type Deliverable =
  | { readonly ready: true; readonly call: CallRecord }
  | { readonly ready: false; readonly because: 'allYielded' }
  | { readonly ready: false; readonly because: 'notCompleted'; readonly waitsFor: string }
  | { readonly ready: false; readonly because: 'notDurable'; readonly waitsFor: string }

export function deliverableOf({ calls, cursor }: Pick<ExecutorSchedule, 'calls' | 'cursor'>): Deliverable {
  const call = calls[cursor]
  if (call === undefined) return { ready: false, because: 'allYielded' }
  if (call.stage !== 'completed') return { ready: false, because: 'notCompleted', waitsFor: call.id }
  if (!call.port.isDurable) return { ready: false, because: 'notDurable', waitsFor: call.id }
  return { ready: true, call }
}
