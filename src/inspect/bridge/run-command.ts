import type { Command } from '../frames/frame.ts'
import type { Commands } from '../recorder/showable.ts'

/** A command that a person gave in the inspector. */
export interface CommandRequest {
  readonly run: number
  readonly command: Command
  /** The call whose question is answered. */
  readonly call: string | undefined
  readonly isAllowed: boolean
}

const deniedInBrowser = 'The user denied this call in the inspector.'

/** Returns undefined if the command ran, otherwise why not. */
export function runCommand(
  commanded: Commands | undefined,
  { command, call, isAllowed }: CommandRequest,
): string | undefined {
  if (commanded === undefined) return 'This run is no longer live.'
  if (command === 'interrupt') commanded.abort('interrupt')
  else if (command === 'abort') commanded.abort('inspector')
  else if (command === 'discard') {
    if (commanded.discard === undefined) return 'A query discards its own attempts. Stop the agent instead.'
    commanded.discard()
  } else {
    const answer = isAllowed
      ? ({ behavior: 'allow' } as const)
      : ({ behavior: 'deny', message: deniedInBrowser } as const)
    if (call === undefined || commanded.answer?.(call, answer) !== true) return 'This question is no longer open.'
  }
  return undefined
}
