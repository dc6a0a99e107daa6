import { type ResultText, resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import { isConcurrencySafe } from './classify-call.ts'
import { copyInput } from './copy-input.ts'
import { type InputReading, readInput, type ValidReading } from './read-input.ts'
import type { Phase, ToolCall } from './tool-call.ts'
import { rejectInput, validationThrew, vetoOf } from './validate-call.ts'

interface Change {
  readonly phase: Phase
  readonly updatedInput: unknown
  /** Who changed it, in each step: the last step leads to `updatedInput`. */
  readonly steps: readonly ChangeStep[]
}

export interface ChangeStep {
  readonly by: string
  readonly input: unknown
}

/**
 * An input that somebody changed has to pass what the model's passed, and may have another class. Goes on with
 * whether the call lost its place beside others, or ends the call.
 */
export function changeInput(
  call: ToolCall,
  tool: AnyTool,
  change: Change,
  goOn: (becameUnsafe: boolean) => void,
): void {
  const reading = readInput(tool, change.updatedInput, call.turn.settings.maxInputChars)
  const accept = (checked: ValidReading) => {
    if (!call.isIn(change.phase)) return
    noteSteps(call, change.steps)
    call.reading = checked
    call.isChecked = true
    goOn(call.isSafe && !isConcurrencySafe(tool, checked.input))
  }
  if (reading.status === 'valid' && tool.validateInput === undefined) return accept(reading)
  checkChange(call, tool, reading, change).then(
    (checked) => (checked.status === 'valid' ? accept(checked) : rejectInput(call, change.phase, checked.text)),
    (error) => rejectInput(call, change.phase, validationThrew(error)),
  )
}

async function checkChange(
  call: ToolCall,
  tool: AnyTool,
  given: InputReading,
  { steps }: Change,
): Promise<ValidReading | { status: 'rejected'; text: ResultText }> {
  const reading = given.status === 'unread' ? await given.pending : given
  if (reading.status === 'invalid') {
    const by = [...new Set(steps.map((step) => (step.by === 'host' ? 'whoever gave permission' : step.by)))].join(', ')
    return { status: 'rejected', text: resultTexts.changedInputUnfit(by, reading.problem) }
  }
  const veto = await vetoOf(call, tool, reading.input)
  return veto === undefined ? reading : { status: 'rejected', text: veto }
}

/** The original stays on record beside each change: who changed what, in which order. */
function noteSteps(call: ToolCall, steps: readonly ChangeStep[]): void {
  const { maxInputChars } = call.turn.settings
  const own = (input: unknown): unknown => {
    const copied = copyInput(input, maxInputChars)
    return copied.ok ? copied.copy : '(too large to keep)'
  }
  let before: unknown = call.reading.status === 'valid' ? own(call.reading.input) : undefined
  for (const { by, input } of steps) {
    const after = own(input)
    call.trail.note({ subtype: 'input_changed', toolUseID: call.id, by, before, after })
    before = after
  }
}
