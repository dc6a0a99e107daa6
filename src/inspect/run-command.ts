import type { Command } from './frame.ts'
import type { Commandable } from './showable.ts'

/** What a person asked for in the inspector. */
export interface CommandRequest {
  readonly run: number
  readonly command: Command
  /** Whose question is answered. */
  readonly call: string | undefined
  readonly isAllowed: boolean
}

const deniedInBrowser = 'The user denied this call in the inspector.'

/** Undefined where it was done, else why not. */
export function runCommand(
  executor: Commandable | undefined,
  { command, call, isAllowed }: CommandRequest,
): string | undefined {
  if (executor === undefined) return 'This run is not live any more.'
  if (command === 'interrupt') executor.abort('interrupt')
  else if (command === 'abort') executor.abort('inspector')
  else if (command === 'discard') executor.discard()
  else {
    const answer = isAllowed
      ? ({ behavior: 'allow' } as const)
      : ({ behavior: 'deny', message: deniedInBrowser } as const)
    if (call === undefined || executor.answer?.(call, answer) !== true) return 'This question is not open any more.'
  }
  return undefined
}
