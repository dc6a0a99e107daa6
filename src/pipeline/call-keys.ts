import { isSameKeys, type Reclassification, type ResourceKeys } from '../../machines/index.ts'
import { describeError } from '../base/describe-error.ts'
import { answerAtOnce } from '../base/when-settled.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { isConcurrencySafe } from './classify-call.ts'
import { readResources } from './read-resources.ts'
import type { ToolCall } from './tool-call.ts'

/** The keys of a call whose tool names resources. With a `problem`, they could not be read and the call runs alone. */
export interface KeysAnswer {
  readonly keys: ResourceKeys
  readonly problem?: string
}

const everything: ResourceKeys = { reads: [], writes: ['*'] }

/** Undefined if the tool names no resources. */
export function askForKeys(
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolUseContext,
): KeysAnswer | undefined {
  try {
    if (tool.resources === undefined) return undefined
    return { keys: readResources(answerAtOnce(tool.resources(input, context))) }
  } catch (error) {
    return { keys: everything, problem: describeError(error) }
  }
}

/**
 * The effect of a changed input or context on a call. Undefined if the call may continue: a call without keys is queued
 * again only if it has become unsafe, a call with keys only if its keys have changed.
 */
export function reclassify(
  call: ToolCall,
  tool: AnyTool,
  input: Record<string, unknown>,
): Reclassification | undefined {
  const context = call.executor.contextFor(call)
  const answer = askForKeys(tool, input, context)
  call.keysContext = context
  if (answer === undefined) {
    return call.isSafe && !isConcurrencySafe(tool, input) ? { isSafe: false, keys: undefined } : undefined
  }
  const { keys, problem } = answer
  if (problem !== undefined) warnAboutKeys(call, problem)
  return isSameKeys(keys, call.keys) ? undefined : { isSafe: isConcurrencySafe(tool, input), keys }
}

export function warnAboutKeys(call: ToolCall, problem: string): void {
  call.executor.warn(call, 'resources_failed', `its tool could not name its resources, so it runs alone: ${problem}`)
}
