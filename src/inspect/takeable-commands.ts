import type { AnyEventObject, AnyMachineSnapshot } from 'xstate'
import type { Command } from './frame.ts'

const probes: readonly { command: Command; event: AnyEventObject }[] = [
  { command: 'interrupt', event: { type: 'abort.userInterrupted', reason: 'interrupt' } },
  { command: 'abort', event: { type: 'abort.userInterrupted', reason: 'inspector' } },
  { command: 'discard', event: { type: 'abort.streamingFallback' } },
]

/** Asked of the chart itself, so that nothing is offered that it would not take. */
export function takeableCommands(snapshot: AnyMachineSnapshot): Command[] {
  if (snapshot.status !== 'active') return []
  return probes.filter(({ event }) => snapshot.can(event)).map(({ command }) => command)
}
