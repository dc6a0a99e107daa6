import { visibleLine } from 'signalbox'
import { type CallState, callPhases, type Encoded, type Phase as ExecutingPhase } from 'signalbox/inspect'
import { cleanLine } from './clean-text.ts'

/** The status of a call, as shown to people. */
export type Phase = ExecutingPhase | (typeof ownPhases)[number]

export const ownPhases = [
  'queued',
  /** Finished, but an earlier call is not delivered yet. */
  'heldForOrder',
  'delivered',
  /** The reply it belongs to was dropped. */
  'discarded',
] as const

/** One call: its state in the run model, plus what the terminal adds. */
export interface CallView extends CallState {
  readonly kind: 'call'
  readonly run: number
  /** Counted through the whole session, starting at 1. */
  readonly number: number
  /** The innermost state of its chart, or `calling` wherever its body runs. */
  state: string
  /** When its body started. */
  ranAt: number | undefined
  completedAt: number | undefined
  /** The end of its output so far, and the number of lines. */
  output: { text: string; lines: number }
  progress: Encoded | undefined
  result: { readonly content: Encoded; readonly isError: boolean } | undefined
  /** The call whose failure stopped it, if any. */
  stoppedBy: string | undefined
  isDiscarded: boolean
}

const executingPhases: ReadonlySet<string> = new Set(callPhases)

export function phaseOf(call: CallView): Phase {
  if (call.result !== undefined) return 'delivered'
  if (call.isDiscarded) return 'discarded'
  if (call.stage === 'completed' || call.stage === 'yielded' || call.stage === 'withdrawn') return 'heldForOrder'
  if (call.stage !== 'executing') return 'queued'
  return executingPhases.has(call.state) ? (call.state as Phase) : 'calling'
}

/** The call will not change any more. */
export const isOver = (call: CallView): boolean => call.result !== undefined || call.isDiscarded

/** A call as other lines refer to it. */
export const nameOf = ({ number, name }: CallView): string => `#${number} ${cleanLine(name)}`

const maxSummary = 40

/** The label of a call, such as `Bash(npm test)`, short enough to leave room for what is said about the call. */
export function labelOf({ name, label }: Pick<CallView, 'name' | 'label'>): string {
  const hasName = label.startsWith(`${name}(`) && label.endsWith(')')
  const summary = Array.from(hasName ? label.slice(name.length + 1, -1) : label)
  if (summary.length <= maxSummary + 1) return visibleLine(label)
  const short = `${summary.slice(0, maxSummary).join('')}…`
  return visibleLine(hasName ? `${name}(${short})` : short)
}
