import type { AbortCause } from '../../machines/index.ts'
import { answerAtOnce } from '../base/when-settled.ts'
import type { SiblingCall, ToolFailure } from '../tool/tool.ts'
import { isReadOnly } from './classify-call.ts'
import type { ToolCall } from './tool-call.ts'

/** A failure whose tool decides which other calls it cancels. */
export interface NamingFailure {
  readonly outcome: ToolFailure & SiblingCall
  readonly rule: (outcome: ToolFailure & SiblingCall, sibling: SiblingCall) => boolean
  readonly description: string
}

/** The calls that this failure cancels: all, or those with these ids. Calls that are added later are checked too. */
export function cancelsSiblings(call: ToolCall, failure: ToolFailure): boolean | readonly string[] {
  const { tool, executor } = call
  const rule = tool?.cancelsSiblingsOnError
  if (typeof rule !== 'function') return rule === true
  const naming: NamingFailure = { outcome: { ...failure, ...siblingOf(call) }, rule, description: call.description }
  executor.noteFailure(naming)
  return executor.liveSiblings(call).flatMap((each) => (names(naming, each) ? [each.id] : []))
}

/** Why a call that is added now must not run: the first failure that cancels it. */
export function causeFor(call: ToolCall, failures: readonly NamingFailure[]): AbortCause | undefined {
  if (failures.length === 0) return undefined
  const found = failures.find((failure) => names(failure, call))
  return found && { kind: 'sibling_error', reason: 'sibling_error', description: found.description }
}

/** A function that throws counts as no. */
function names({ outcome, rule }: NamingFailure, sibling: ToolCall): boolean {
  try {
    return answerAtOnce(rule(outcome, siblingOf(sibling))) === true
  } catch {
    return false
  }
}

function siblingOf({ id, name, tool, reading, rawInput }: ToolCall): SiblingCall {
  const input = reading.status === 'valid' ? reading.input : rawInput
  const onlyReads = tool !== undefined && reading.status === 'valid' && isReadOnly(tool, reading.input)
  return { toolUseID: id, name: tool?.name ?? name, input, isReadOnly: onlyReads }
}
