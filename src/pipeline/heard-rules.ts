import type { PermissionLists } from '../permission/permission-settings.ts'
import { allowAllTools, type CanUseTool } from '../tool/permission.ts'
import type { ToolCall } from './tool-call.ts'

const outside = Symbol()

/** Has a way out for the rules that come with answers. */
type OpenAsk = CanUseTool & { [outside]?: (lists: PermissionLists) => void }

/** Asks the same; and `hear` is told of the rules that came with answers, once they hold where it was asked. */
export function withHearing(canUseTool: CanUseTool, hear: (lists: PermissionLists) => void): CanUseTool {
  // nobody is asked, so nothing is heard, and it must be known for what it is
  if (canUseTool === allowAllTools) return canUseTool
  const ask: OpenAsk = (...question) => canUseTool(...question)
  ask[outside] = hear
  return ask
}

export const tellOutside = (ask: OpenAsk | undefined, lists: PermissionLists): void => ask?.[outside]?.(lists)

/** What a body asks the host with, such as for the calls of an agent of its own. */
export function askFromBody(call: ToolCall): CanUseTool | undefined {
  const { canUseTool } = call.turn
  return canUseTool && withHearing(canUseTool, (lists) => addRules(call, lists))
}

/**
 * Rules for the rest of the session, so that those of an agent's calls hold around it too. One that cannot be read
 * changes nothing, and the answer holds all the same.
 */
export function addRules(call: ToolCall, lists: PermissionLists): void {
  const { turn } = call
  try {
    turn.addRules(lists)
    tellOutside(turn.canUseTool, lists)
  } catch (error) {
    turn.warn(call, 'invalid_rule', 'the rules that came with the answer cannot be read and were left out', error)
  }
}
