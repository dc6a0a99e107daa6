import { isSameKeys, type Reclassification, type ResourceKeys } from '../../machines/index.ts'
import { describeError } from '../base/describe-error.ts'
import { describeValue } from '../base/describe-value.ts'
import { isRecord } from '../base/read-field.ts'
import { answerAtOnce } from '../base/when-settled.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import { isConcurrencySafe } from './classify-call.ts'
import type { ToolCall } from './tool-call.ts'

/** The keys of a call whose tool names resources. With a `problem`, they could not be read and the call runs alone. */
export interface KeysAnswer {
  readonly keys: ResourceKeys
  readonly problem?: string
}

const everything: ResourceKeys = { reads: [], writes: ['*'] }

/** Longer keys, and more of them, would make the check of one call as slow as that of a whole turn. */
const mostKeys = 1_000
const longestKey = 4_096

/** Undefined if the tool names no resources. */
export function askForKeys(
  tool: AnyTool,
  input: Record<string, unknown>,
  context: ToolUseContext,
): KeysAnswer | undefined {
  try {
    if (tool.resources === undefined) return undefined
    const answer: unknown = answerAtOnce(tool.resources(input, context))
    if (!isRecord(answer)) throw new TypeError(`expected { reads, writes }, received ${describeValue(answer, 100)}`)
    return { keys: { reads: readKeys('reads', answer.reads), writes: readKeys('writes', answer.writes) } }
  } catch (error) {
    return { keys: everything, problem: describeError(error) }
  }
}

function readKeys(field: string, given: unknown): string[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) {
    throw new TypeError(`${field}: expected an array of keys, received ${describeValue(given, 100)}`)
  }
  const keys = [...new Set<unknown>(given)]
  if (keys.length > mostKeys)
    throw new TypeError(`${field}: expected at most ${mostKeys} keys, received ${keys.length}`)
  return keys.map((key) => {
    if (isKey(key)) return key
    throw new TypeError(`${field}: expected '*' or 'scheme:path', received ${describeValue(key, 100)}`)
  })
}

const isKey = (key: unknown): key is string =>
  key === '*' || (typeof key === 'string' && key.length <= longestKey && /^[a-z][a-z0-9+.-]*:./i.test(key))

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
