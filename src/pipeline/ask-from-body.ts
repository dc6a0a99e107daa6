import type { PermissionLists } from '../permission/permission-settings.ts'
import type { CanUseTool } from '../tool/permission.ts'
import type { ToolCall } from './tool-call.ts'

const outside = Symbol()

/** Has a way out for the rules that come with answers inside a body. */
type BodyAsk = CanUseTool & { [outside]?: (lists: PermissionLists) => void }

/** What a body asks the host with, such as for the calls of an agent of its own. */
export function askFromBody(call: ToolCall): CanUseTool | undefined {
  const { canUseTool, allowsEverything } = call.turn
  if (canUseTool === undefined || allowsEverything) return canUseTool
  const ask: BodyAsk = (...question) => canUseTool(...question)
  ask[outside] = (lists) => addRules(call, lists)
  return ask
}

/**
 * Rules for the rest of the session, so that those of an agent's calls hold around it too. One that cannot be read
 * changes nothing, and the answer holds all the same.
 */
export function addRules(call: ToolCall, lists: PermissionLists): void {
  const { turn } = call
  const ask: BodyAsk | undefined = turn.canUseTool
  try {
    turn.addRules(lists)
    ask?.[outside]?.(lists)
  } catch (error) {
    turn.warn(call, 'invalid_rule', 'the rules that came with the answer cannot be read and were left out', error)
  }
}
