import type { AnyEventObject, AnyMachineSnapshot } from 'xstate'
import type { Command } from './frame.ts'

export interface AskedCommand {
  readonly command: Command
  readonly isAllowed: boolean
}

/** Maps an event that a person sends to an actor to a command. Undefined for all other events. */
export function eventCommand(event: unknown): AskedCommand | undefined {
  const { type, reason } = (typeof event === 'object' && event !== null ? event : {}) as Record<string, unknown>
  switch (type) {
    case 'abort.userInterrupted':
      return { command: reason === 'interrupt' ? 'interrupt' : 'abort', isAllowed: false }
    case 'abort.streamingFallback':
      return { command: 'discard', isAllowed: false }
    case 'permission.allowed':
    case 'permission.denied':
      return { command: 'answer', isAllowed: type === 'permission.allowed' }
    default:
      return undefined
  }
}

interface Probe {
  readonly command: Command
  readonly event: AnyEventObject
}

const ofExecutor: readonly Probe[] = [
  { command: 'interrupt', event: { type: 'abort.userInterrupted', reason: 'interrupt' } },
  { command: 'abort', event: { type: 'abort.userInterrupted', reason: 'inspector' } },
  { command: 'discard', event: { type: 'abort.streamingFallback' } },
]

/** No discard: the reply's calls would have no results in the query's transcript. */
const ofQuery: readonly Probe[] = [
  { command: 'interrupt', event: { type: 'query.abort', reason: 'interrupt' } },
  { command: 'abort', event: { type: 'query.abort', reason: 'inspector' } },
]

/**
 * The commands that the chart itself accepts now; no others are offered. For an executor that belongs to a query,
 * commands go to the query, which would otherwise ask the model again.
 */
export function takeableCommands(executor: AnyMachineSnapshot, query: AnyMachineSnapshot | undefined): Command[] {
  const snapshot = query ?? executor
  if (snapshot.status !== 'active') return []
  const probes = query === undefined ? ofExecutor : ofQuery
  return probes.filter(({ event }) => snapshot.can(event)).map(({ command }) => command)
}
