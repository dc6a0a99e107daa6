import type { PermissionLists } from '../permission/permission-settings.ts'
import { allowAllTools, type CanUseTool } from '../tool/permission.ts'
import { type AgentCallRef, channelOf, withChannel } from './ask-channel.ts'
import { settleByRules } from './deciding.ts'
import type { ToolCall } from './tool-call.ts'

/** The same function, with an observer for the rules that come with its answers, called once the rules apply. */
export function observeRules(
  canUseTool: CanUseTool,
  hear: (lists: PermissionLists) => void,
  agent?: AgentCallRef,
): CanUseTool {
  // it asks nobody, so there are no rules, and it must stay recognizable by identity
  if (canUseTool === allowAllTools) return canUseTool
  const outer = channelOf(canUseTool)
  const agents = [...(outer?.agents ?? []), ...(agent === undefined ? [] : [agent])]
  return withChannel(canUseTool, { addRules: hear, questions: outer?.questions, agents })
}

export const propagateRules = (ask: CanUseTool | undefined, lists: PermissionLists): void =>
  channelOf(ask)?.addRules?.(lists)

/** The `canUseTool` for a body, for example for the calls of its own agent. */
export function askFromBody(call: ToolCall): CanUseTool | undefined {
  const { canUseTool } = call.executor
  if (canUseTool === undefined || canUseTool === allowAllTools) return canUseTool
  const agent = { toolUseID: call.id, toolName: call.name }
  return observeRules(canUseTool, (lists) => addRules(call, lists), agent)
}

/**
 * Adds rules for the rest of the session; those of an agent's calls also apply outside the agent. An invalid rule changes
 * nothing, and the answer still counts.
 */
export function addRules(call: ToolCall, lists: PermissionLists): void {
  const { executor } = call
  try {
    executor.addRules(lists)
    propagateRules(executor.canUseTool, lists)
    if ((lists.allow?.length ?? 0) > 0) for (const each of executor.askingCalls) settleByRules(each)
  } catch (error) {
    warnOfRules(call, error)
  }
}

export const warnOfRules = (call: ToolCall, error: unknown): void =>
  call.executor.warn(call, 'invalid_rule', 'the rules that came with the answer are invalid and were ignored', error)
