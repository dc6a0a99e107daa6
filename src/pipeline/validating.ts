import { describeError } from '../base/describe-error.ts'
import { readField } from '../base/read-field.ts'
import { type ResultText, resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { Phase } from './call-facts.ts'
import { reclassify } from './call-keys.ts'
import { cancelsSiblings } from './cancels-siblings.ts'
import { ownErrorMessage } from './own-error.ts'
import type { InputReading, ValidReading } from './read-input.ts'
import type { ToolCall } from './tool-call.ts'

/** The `validating` phase: the schema, then `normalizeInput` and `validateInput`. */
export function validateCall(call: ToolCall): void {
  const { tool, reading } = call
  if (!call.isIn('validating')) return
  if (reading.status === 'invalid') return rejectInput(call, 'validating', resultTexts.invalidInput(reading.problem))
  if (tool === undefined) return
  if (reading.status === 'valid' && !call.needsInputCheck) return acceptInput(call, tool, reading)
  checkInput(call, tool, reading, 'validating', resultTexts.invalidInput).then(
    (checked) => {
      if (checked.status === 'rejected') return rejectInput(call, 'validating', checked.text)
      if (!call.isIn('validating')) return
      call.accept(checked)
      acceptInput(call, tool, checked)
    },
    (error) => rejectInput(call, 'validating', validationThrew(error)),
  )
}

/** The keys belong to the input and the context at the call's arrival; both may have changed since. */
function acceptInput(call: ToolCall, tool: AnyTool, { input }: ValidReading): void {
  const hasKeys = call.keys !== undefined || readField(tool, 'resources') !== undefined
  call.tell({ type: 'input.accepted', change: hasKeys ? reclassify(call, tool, input) : undefined })
}

export type CheckedInput = ValidReading | { readonly status: 'rejected'; readonly text: ResultText }

/** All checks of an input: the schema, `normalizeInput` and `validateInput`. */
export async function checkInput(
  call: ToolCall,
  tool: AnyTool,
  given: InputReading,
  phase: Phase,
  unfit: (problem: string) => ResultText,
): Promise<CheckedInput> {
  const reading = given.status === 'unread' ? await given.pending : given
  if (reading.status === 'invalid') return { status: 'rejected', text: unfit(reading.problem) }
  const input =
    tool.normalizeInput === undefined ? reading.input : await tool.normalizeInput(reading.input, call.context)
  if (typeof input !== 'object' || input === null) throw new TypeError('normalizeInput must return the input')
  // a call that has ended needs no check
  const veto = call.isIn(phase) ? await vetoOf(call, tool, input) : undefined
  return veto === undefined ? { status: 'valid', input } : { status: 'rejected', text: veto }
}

/** The tool's objection to a valid input, if any. */
async function vetoOf(call: ToolCall, tool: AnyTool, input: Record<string, unknown>): Promise<ResultText | undefined> {
  if (tool.validateInput === undefined) return undefined
  const verdict = await tool.validateInput(input, call.context)
  if (verdict?.result === true) return undefined
  if (verdict?.result === false && typeof verdict.message === 'string') return resultTexts.vetoed(verdict.message)
  throw new TypeError('validateInput must return { result: true } or { result: false, message }')
}

/** Ends the call with an error. */
export function rejectInput(call: ToolCall, phase: Phase, text: ResultText): void {
  if (!call.isIn(phase)) return
  call.outcome = { status: 'failed', message: text.toolUseResult, label: 'InvalidInput' }
  call.outgoing.set([ownErrorMessage(call, text)])
  call.tell({
    type: 'input.rejected',
    cancelsSiblings: cancelsSiblings(call, { kind: 'invalid_input', message: text.toolUseResult }),
    description: call.description,
  })
}

export const validationThrew = (error: unknown): ResultText =>
  resultTexts.invalidInput(`the tool could not check the input. ${describeError(error)}`)
