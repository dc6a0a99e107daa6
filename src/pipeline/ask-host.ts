import { describeError } from '../errors/describe-error.ts'
import { type ResultText, resultTexts } from '../results/result-texts.ts'
import { describeValue } from '../text/describe-value.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import { isConcurrencySafe } from './classify-call.ts'
import { ownErrorMessage } from './own-error.ts'
import { type InputReading, readInput, type ValidReading } from './read-input.ts'
import type { ToolCall } from './tool-call.ts'
import { rejectInput, validationThrew, vetoOf } from './validate-call.ts'
import { whenSettled } from './when-settled.ts'

/** The `permission` phase: the host's word. Whatever is not a clear yes is a no. */
export function askHost(call: ToolCall): void {
  const { tool, reading } = call
  const { canUseTool } = call.turn
  if (tool === undefined || reading.status !== 'valid' || !call.isIn('permission')) return
  if (canUseTool === undefined) return deny(call, resultTexts.nobodyToAsk(call.name))
  whenSettled(
    () => canUseTool(tool, reading.input, call.context, call.assistantMessage, call.id),
    (answer) => takeAnswer(call, tool, readAnswer(answer)),
    (error) => deny(call, resultTexts.askingFailed(describeError(error))),
  )
}

/** Read once, here: an answer that throws when it is read is no clear yes. */
function readAnswer(answer: PermissionAnswer): PermissionAnswer | { behavior: 'unclear'; problem: string } {
  try {
    if (answer?.behavior === 'allow') return { ...answer }
    if (answer?.behavior === 'deny') return { ...answer }
    return {
      behavior: 'unclear',
      problem: `The answer was ${describeValue(answer, 200)}, which is neither allow nor deny.`,
    }
  } catch (error) {
    return { behavior: 'unclear', problem: describeError(error) }
  }
}

function takeAnswer(call: ToolCall, tool: AnyTool, answer: ReturnType<typeof readAnswer>): void {
  if (!call.isIn('permission')) return
  if (answer.behavior === 'allow') {
    if (answer.updatedInput === undefined) call.tell({ type: 'permission.allowed', becameUnsafe: false })
    else changeInput(call, tool, answer.updatedInput)
  } else if (answer.behavior === 'deny') {
    const hasMessage = typeof answer.message === 'string' && answer.message !== ''
    const text = hasMessage ? resultTexts.denied(answer.message) : resultTexts.denialWithoutMessage()
    const stopsTurn = answer.interrupt === true
    deny(call, text, stopsTurn)
    if (stopsTurn) call.turn.stopTurn('permission_stop')
  } else deny(call, resultTexts.askingFailed(answer.problem))
}

function deny(call: ToolCall, text: ResultText, stopsTurn = false): void {
  if (!call.isIn('permission')) return
  call.setMessages([ownErrorMessage(call, text)])
  call.tell({ type: 'permission.denied', stopsTurn })
}

/** An input that the host changed has to pass what the model's passed, and may have another class. */
function changeInput(call: ToolCall, tool: AnyTool, updatedInput: unknown): void {
  const reading = readInput(tool, updatedInput, call.turn.settings.maxInputChars)
  if (reading.status === 'valid' && tool.validateInput === undefined) return accept(call, tool, reading)
  checkChange(call, tool, reading).then(
    (checked) => (checked.status === 'valid' ? accept(call, tool, checked) : rejectInput(call, checked.text)),
    (error) => rejectInput(call, validationThrew(error)),
  )
}

async function checkChange(
  call: ToolCall,
  tool: AnyTool,
  given: InputReading,
): Promise<ValidReading | { status: 'rejected'; text: ResultText }> {
  const reading = given.status === 'unread' ? await given.pending : given
  if (reading.status === 'invalid') return { status: 'rejected', text: invalidUpdate(reading.problem) }
  const veto = await vetoOf(call, tool, reading.input)
  return veto === undefined ? reading : { status: 'rejected', text: veto }
}

function accept(call: ToolCall, tool: AnyTool, reading: ValidReading): void {
  if (!call.isIn('permission')) return
  call.reading = reading
  call.isChecked = true
  call.tell({ type: 'permission.allowed', becameUnsafe: call.isSafe && !isConcurrencySafe(tool, reading.input) })
}

const invalidUpdate = (problem: string): ResultText =>
  resultTexts.invalidInput(`the input was changed when permission was given, and no longer fits: ${problem}`)
