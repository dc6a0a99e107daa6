import type { ReceiverCommand } from '@xstate/inspect/lib/types.js'

/** Parses a receiver's message. Undefined for anything else, because other messages crash the package's server. */
export function readReceiverCommand(text: string): ReceiverCommand | undefined {
  const message = parse(text)
  if (message?.type === 'xstate.inspecting') return { type: 'xstate.inspecting' }
  if (message?.type !== 'xstate.event' || typeof message.event !== 'string') return undefined
  const event = parse(message.event)
  if (event === undefined || typeof event.origin !== 'string') return undefined
  return { type: 'xstate.event', event: message.event, service: event.origin }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
