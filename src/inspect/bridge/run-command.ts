import type { Command } from '../frames/frame.ts'
import type { Commands } from '../recorder/showable.ts'

/** A command that a person gave in the inspector. */
export interface CommandRequest {
  readonly run: number
  readonly command: Command
  /** The call whose question is answered, or that goes to the background. */
  readonly call: string | undefined
  readonly isAllowed: boolean
  /** Why the call is denied, for the model. */
  readonly message?: string | undefined
  /** Allow every such call from now on. The rule comes from the question, never from the browser. */
  readonly isAlways?: boolean | undefined
}

const maxMessage = 2_000
const deniedInBrowser = 'The user denied this call in the inspector.'

/** Returns undefined if the command ran, otherwise why not. */
export function runCommand(
  commanded: Commands | undefined,
  { command, call, isAllowed, message = '', isAlways }: CommandRequest,
): string | undefined {
  if (commanded === undefined) return 'This run is no longer live.'
  if (command === 'interrupt') commanded.abort('interrupt')
  else if (command === 'abort') commanded.abort('inspector')
  else if (command === 'discard') {
    if (commanded.discard === undefined) return 'A query discards its own attempts. Stop the agent instead.'
    commanded.discard()
  } else if (command === 'detach') {
    if (call === undefined || commanded.detach?.(call) !== true)
      return 'This call cannot go to the background: it does not run, or too many calls are there.'
  } else {
    if (call === undefined) return 'This question is no longer open.'
    const rule = isAlways === true ? commanded.ruleFor?.(call) : undefined
    if (isAlways === true && rule === undefined) return 'No rule would allow every such call.'
    const because =
      message.trim() === '' ? deniedInBrowser : `${deniedInBrowser} ${message.trim().slice(0, maxMessage)}`
    const answer = isAllowed
      ? ({ behavior: 'allow', ...(rule !== undefined && { addRules: { allow: [rule] } }) } as const)
      : ({ behavior: 'deny', message: because } as const)
    if (commanded.answer?.(call, answer) !== true) return 'This question is no longer open.'
  }
  return undefined
}
