import type { FrameOf } from '../frames/frame.ts'
import type { CallState } from './run-state.ts'

interface Candidate {
  readonly byId: ReadonlyMap<string, CallState>
  readonly parentToolUseID: string | undefined
}

/**
 * The number of the run that has the call which a new run works for. Ids may repeat, even inside the agent: a call that
 * is under way comes first, then one in the background, then one that is not inside the agent itself. Of these, the newest.
 */
export function numberAround(
  runs: ReadonlyMap<number, Candidate>,
  { run, parentToolUseID: call }: FrameOf<'run'>,
): number | undefined {
  if (call === undefined) return undefined
  const found = [...runs].filter(([number, { byId }]) => number !== run && byId.has(call))
  const isUnderWay = ({ byId }: Candidate): boolean => byId.get(call)?.stage === 'executing'
  const isInBackground = ({ byId }: Candidate): boolean => byId.get(call)?.ending?.by === 'background'
  const isOutside = ({ parentToolUseID }: Candidate): boolean => parentToolUseID !== call
  for (const fits of [isUnderWay, isInBackground, isOutside, () => true]) {
    const last = found.findLast(([, each]) => fits(each))
    if (last !== undefined) return last[0]
  }
  return undefined
}
