import type { Frame } from '../frames/frame.ts'
import type { RunModel, RunState, ServerState } from './run-state.ts'

/** Stands for an input that a reader with a limited history no longer has. */
const forgotten = { $: 'forgotten' } as const

/** Removes what ended with a frame that a reader no longer keeps: a run with its last frame, a call with its last result. */
export function forgetEnded<Run extends RunState, Server extends ServerState>(
  model: RunModel<Run, Server>,
  frame: Frame,
  onForgotten: (call: Run['calls'][number]) => void = () => undefined,
): void {
  if (frame.type === 'left') {
    model.runs.delete(frame.run)
    model.servers.delete(frame.run)
  }
  const run = model.runs.get(frame.run)
  if (run === undefined) return
  const ended = frame.type === 'schedule' ? (frame.stages ?? []) : frame.type === 'result' ? [[frame.call]] : []
  for (const [id] of ended) {
    const call = run.byId.get(id as string)
    if (call?.stage !== 'yielded') continue
    call.results.length = 0
    call.input = forgotten
    run.actors.delete(call.actor)
    onForgotten(call)
  }
}
