import type { CallFrame, Encoded, EndingFrame, WaitGroup } from '../../inspect/index.ts'

/** Where a call stands, as people are told. */
export type Phase =
  | 'queued'
  | 'validating'
  | 'preHooks'
  | 'deciding'
  | 'asking'
  | 'calling'
  | 'retrying'
  | 'postHooks'
  | 'formatting'
  | 'stopping'
  /** Finished, but an earlier call is not handed over yet. */
  | 'heldForOrder'
  | 'delivered'
  /** The reply it belongs to does not count any more. */
  | 'discarded'

/** One call as far as the frames tell of it. */
export interface CallView {
  readonly kind: 'call'
  readonly run: number
  readonly id: string
  /** Counted through the whole session, from 1. */
  readonly number: number
  name: string
  label: string
  input: Encoded
  lane: CallFrame['lane']
  stage: CallFrame['stage']
  /** The innermost state of its chart. */
  state: string
  /** When its body began. */
  ranAt: number | undefined
  completedAt: number | undefined
  wait: Pick<WaitGroup, 'because' | 'blockers'> | undefined
  /** The end of what it printed so far, and how many lines there were. */
  output: { text: string; lines: number }
  progress: Encoded | undefined
  result: { readonly content: Encoded; readonly isError: boolean } | undefined
  ending: Pick<EndingFrame, 'by' | 'kind' | 'reached'> | undefined
  /** Whose failure stopped it, where one did. */
  stoppedBy: string | undefined
  isDiscarded: boolean
}

const executingStates = new Set<string>([
  'validating',
  'preHooks',
  'deciding',
  'asking',
  'calling',
  'retrying',
  'postHooks',
  'formatting',
  'stopping',
] satisfies Phase[])

export function phaseOf(call: CallView): Phase {
  if (call.result !== undefined) return 'delivered'
  if (call.isDiscarded) return 'discarded'
  if (call.stage === 'completed' || call.stage === 'yielded' || call.stage === 'withdrawn') return 'heldForOrder'
  if (call.stage !== 'executing') return 'queued'
  return executingStates.has(call.state) ? (call.state as Phase) : 'calling'
}

/** Nothing more will become of it. */
export const isOver = (call: CallView): boolean => call.result !== undefined || call.isDiscarded
