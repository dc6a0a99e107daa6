import { describeError } from '../errors/describe-error.ts'
import { type ResultText, resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import { cancelsSiblings } from './cancels-siblings.ts'
import { ownErrorMessage } from './own-error.ts'
import type { InputReading } from './read-input.ts'
import type { Phase, ToolCall } from './tool-call.ts'

/** The `validating` phase: schema, then the tool's own normalising and its veto. */
export function validateCall(call: ToolCall): void {
  const { tool, reading } = call
  if (!call.isIn('validating')) return
  if (reading.status === 'invalid') return rejectInput(call, 'validating', resultTexts.invalidInput(reading.problem))
  if (tool === undefined) return
  normalize(call, tool, reading).then(
    (problem) =>
      problem === undefined ? call.tell({ type: 'input.accepted' }) : rejectInput(call, 'validating', problem),
    (error) => rejectInput(call, 'validating', validationThrew(error)),
  )
}

/** Whether the tool objects to an input that fits its schema. */
export async function vetoOf(
  call: ToolCall,
  tool: AnyTool,
  input: Record<string, unknown>,
): Promise<ResultText | undefined> {
  if (tool.validateInput === undefined) return undefined
  const verdict = await tool.validateInput(input, call.context)
  if (verdict?.result === true) return undefined
  if (verdict?.result === false && typeof verdict.message === 'string') return resultTexts.vetoed(verdict.message)
  throw new TypeError('validateInput must return { result: true } or { result: false, message }')
}

/** The call ends here, with an error of its own. */
export function rejectInput(call: ToolCall, phase: Phase, text: ResultText): void {
  if (!call.isIn(phase)) return
  call.outcome = { status: 'failed', message: text.toolUseResult, label: 'InvalidInput' }
  call.setMessages([ownErrorMessage(call, text)])
  call.tell({
    type: 'input.rejected',
    cancelsSiblings: cancelsSiblings(call, { kind: 'invalid_input', message: text.toolUseResult }),
    description: call.description,
  })
}

export const validationThrew = (error: unknown): ResultText =>
  resultTexts.invalidInput(`the tool could not check the input. ${describeError(error)}`)

async function normalize(call: ToolCall, tool: AnyTool, given: InputReading): Promise<ResultText | undefined> {
  const reading = given.status === 'unread' ? await given.pending : given
  if (reading.status === 'invalid') return resultTexts.invalidInput(reading.problem)
  const input =
    tool.normalizeInput === undefined ? reading.input : await tool.normalizeInput(reading.input, call.context)
  if (typeof input !== 'object' || input === null) throw new TypeError('normalizeInput must return the input')
  if (!call.isIn('validating')) return undefined
  call.reading = { status: 'valid', input }
  call.isChecked = true
  return vetoOf(call, tool, input)
}
