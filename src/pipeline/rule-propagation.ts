import type { PermissionLists } from '../permission/permission-settings.ts'
import { allowAllTools, type CanUseTool } from '../tool/permission.ts'
import { type AgentCallRef, channelOf, withChannel } from './ask-channel.ts'
import { settleByRules } from './deciding.ts'
import type { ToolCall } from './tool-call.ts'

/** Asks the same; and `hear` is told of the rules that came with answers, once they hold where it was asked. */
export function observeRules(
  canUseTool: CanUseTool,
  hear: (lists: PermissionLists) => void,
  agent?: AgentCallRef,
): CanUseTool {
  // nobody is asked, so nothing is heard, and it must be known for what it is
  if (canUseTool === allowAllTools) return canUseTool
  const outer = channelOf(canUseTool)
  const agents = [...(outer?.agents ?? []), ...(agent === undefined ? [] : [agent])]
  return withChannel(canUseTool, { addRules: hear, questions: outer?.questions, agents })
}

export const propagateRules = (ask: CanUseTool | undefined, lists: PermissionLists): void =>
  channelOf(ask)?.addRules?.(lists)

/** What a body asks the host with, such as for the calls of an agent of its own. */
export function askFromBody(call: ToolCall): CanUseTool | undefined {
  const { canUseTool } = call.executor
  if (canUseTool === undefined || canUseTool === allowAllTools) return canUseTool
  const agent = { toolUseID: call.id, toolName: call.name }
  return observeRules(canUseTool, (lists) => addRules(call, lists), agent)
}

/**
 * Rules for the rest of the session, so that those of an agent's calls hold around it too. One that cannot be read
 * changes nothing, and the answer holds all the same.
 */
export function addRules(call: ToolCall, lists: PermissionLists): void {
  const { executor } = call
  try {
    executor.addRules(lists)
    propagateRules(executor.canUseTool, lists)
    if ((lists.allow?.length ?? 0) > 0) for (const each of executor.askingCalls) settleByRules(each)
  } catch (error) {
    executor.warn(call, 'invalid_rule', 'the rules that came with the answer cannot be read and were left out', error)
  }
}
