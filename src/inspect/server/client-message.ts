import type { CommandRequest } from '../bridge/run-command.ts'
import type { Command } from '../index.ts'

export type ClientMessage =
  | { readonly type: 'ack'; readonly batch: number }
  | ({ readonly type: 'command'; readonly id: number } & CommandRequest)

const commands: ReadonlySet<unknown> = new Set<Command>(['interrupt', 'abort', 'discard', 'answer', 'detach'])

/** Parses a browser's message; undefined if it is not valid. */
export function readClientMessage(text: string): ClientMessage | undefined {
  const value = parse(text)
  if (typeof value !== 'object' || value === null) return undefined
  const { type, batch, id, run, command, call, allow, message, always } = value as Record<string, unknown>
  if (type === 'ack') return typeof batch === 'number' ? { type, batch } : undefined
  if (type !== 'command' || typeof id !== 'number' || typeof run !== 'number' || !commands.has(command))
    return undefined
  return {
    type,
    id,
    run,
    command: command as Command,
    call: typeof call === 'string' ? call : undefined,
    isAllowed: allow === true,
    message: typeof message === 'string' ? message : undefined,
    isAlways: always === true,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
