import type { Reclassification } from '../../machines/index.ts'
import { copyInput } from '../base/copy-input.ts'
import { isRecord } from '../base/read-field.ts'
import { isSameInput } from '../base/same-input.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { Phase } from './call-facts.ts'
import { reclassify } from './call-keys.ts'
import { ownInput } from './hook-input.ts'
import { readInput, type ValidReading } from './read-input.ts'
import type { ToolCall } from './tool-call.ts'
import { checkInput, rejectInput, validationThrew } from './validating.ts'

interface Change {
  readonly phase: Phase
  readonly updatedInput: unknown
  /** The changes in order, with their author; the last one leads to `updatedInput`. */
  readonly steps: readonly ChangeStep[]
}

export interface ChangeStep {
  readonly by: string
  readonly input: unknown
}

/**
 * Checks a changed input like the model's input. If the input uses other resources, the call is queued again.
 */
export function changeInput(
  call: ToolCall,
  tool: AnyTool,
  change: Change,
  goOn: (change: Reclassification | undefined) => void,
): void {
  const { phase, updatedInput, steps } = change
  const shown = ownInput(call)
  if (isSameInput(shown, updatedInput)) return goOn(undefined)
  const raw = asTheModelWouldSendIt(call, shown, updatedInput)
  const reading = readInput(tool, raw, call.executor.settings.maxInputChars)
  const accept = (checked: ValidReading): void => {
    if (!call.isIn(phase)) return
    noteSteps(call, steps)
    call.rawInput = raw
    call.accept(checked)
    goOn(reclassify(call, tool, checked.input))
  }
  if (reading.status === 'valid' && tool.validateInput === undefined && tool.normalizeInput === undefined) {
    return accept(reading)
  }
  checkInput(call, tool, reading, phase, (problem) => resultTexts.changedInputUnfit(changersOf(steps), problem)).then(
    (checked) => (checked.status === 'valid' ? accept(checked) : rejectInput(call, phase, checked.text)),
    (error) => rejectInput(call, phase, validationThrew(error)),
  )
}

/**
 * Hooks and the host see the parsed input, and a transform must not be applied twice: so only their changes are applied to
 * the model's original input.
 */
function asTheModelWouldSendIt({ rawInput }: ToolCall, shown: Record<string, unknown>, updated: unknown): unknown {
  try {
    return isRecord(updated) && isRecord(rawInput) ? mergeInput(rawInput, shown, updated) : updated
  } catch {
    // an unreadable input fails in the schema too, with a better error
    return updated
  }
}

const changersOf = (steps: readonly ChangeStep[]): string =>
  [...new Set(steps.map(({ by }) => (by === 'host' ? 'the permission answer' : by)))].join(', ')

/** Records the original beside each change: what was changed, by which hook or host, in which order. */
function noteSteps(call: ToolCall, steps: readonly ChangeStep[]): void {
  const { maxInputChars } = call.executor.settings
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

type Input = Record<string, unknown>

/**
 * Applies one more hook's changes. All hooks saw the same `original`, so only this hook's differences from it count:
 * changes of earlier hooks to other keys stay. If two hooks change the same key, the later one wins.
 */
export function mergeInput(current: Input, original: Input, updated: Input): Input {
  const merged = new Map(Object.entries(current))
  for (const key of Object.keys(original)) if (!Object.hasOwn(updated, key)) merged.delete(key)
  for (const [key, value] of Object.entries(updated)) {
    if (!Object.hasOwn(original, key) || !isSameInput(original[key], value)) merged.set(key, value)
  }
  return Object.fromEntries(merged)
}
