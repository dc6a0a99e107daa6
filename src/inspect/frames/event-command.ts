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
