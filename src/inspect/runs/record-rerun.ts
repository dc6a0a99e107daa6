import { abortText } from '../../results/result-texts.ts'
import type { Frame, ResultFrame } from '../frames/frame.ts'
import { type Changes, Rerun } from './rerun.ts'
import type { ScriptedCall } from './scripted-call.ts'
import type { SeenRun } from './seen-run.ts'

/** A rerun as a recording: inputs and results come from the original recording. */
export function recordRerun(seen: SeenRun, changes: Changes): Frame[] {
  const frames: Frame[] = []
  const push = (frame: Frame): void => void frames.push({ ...frame, seq: frames.length })
  const rerun: Rerun = new Rerun(seen, changes, (frame) => {
    const call = frame.type === 'call' ? seen.byId.get(frame.call) : undefined
    push(call === undefined || frame.type !== 'call' ? frame : { ...frame, label: call.label, input: call.input })
    if (frame.type !== 'schedule') return
    for (const [id, stage] of frame.stages ?? []) {
      const taken = stage === 'yielded' ? rerun.calls[seen.byId.get(id)?.index ?? -1] : undefined
      for (const result of resultsOf(taken)) push({ seq: 0, at: frame.at, run: frame.run, ...result })
    }
  })
  rerun.advance()
  return frames
}

/** A call that is stopped only in the rerun gets the executor's text. Other results would be unknown. */
function resultsOf(call: ScriptedCall | undefined): ResultFrame[] {
  if (call === undefined) return []
  const { seen, way, ending } = call
  if (seen.wasOver || (seen.ending?.by === way.ending?.by && seen.ending?.kind === way.ending?.kind)) {
    return seen.results.map(({ type, call, message, isError, content }) => ({ type, call, message, isError, content }))
  }
  const isAborted = ending?.by === 'abort'
  const content = isAborted ? abortText(ending.cause, ending.reached).content : { $: 'withheld' }
  return [{ type: 'result', call: seen.id, message: 'tool_result', isError: isAborted, content }]
}
