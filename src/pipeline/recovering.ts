import { whenSettled } from '../base/when-settled.ts'
import type { Records } from '../journal/records.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { AnyTool, Recovery } from '../tool/tool.ts'
import { recordDecision } from './call-permit.ts'
import { cancelsSiblings } from './cancels-siblings.ts'
import { isReadOnly } from './classify-call.ts'
import { endOf } from './formatting.ts'
import { readInput, type ValidReading } from './read-input.ts'
import type { ToolCall } from './tool-call.ts'

/** The state `recovering`: the body started in a process that has ended. The tool decides how to continue. */
export function recoverCall(call: ToolCall): void {
  const { tool, past } = call
  const started = past?.started
  if (started === undefined || !call.isIn('recovering')) return
  whenSettled(
    () => recoveryOf(call, tool, started),
    (recovery) => follow(call, started, recovery),
    () => call.isIn('recovering') && endUnknown(call),
  )
}

async function recoveryOf(
  call: ToolCall,
  tool: AnyTool | undefined,
  started: Records['call.started'],
): Promise<Recovery> {
  const reading = tool && (await readAgain(call, tool, started.input))
  if (tool === undefined || reading === undefined) return 'unknown'
  call.reading = reading
  call.isChecked = true
  if (tool.recover !== undefined) return tool.recover(reading.input, call.context)
  return isReadOnly(tool, reading.input) ? 'again' : 'unknown'
}

/** The tool had no objection when the call started, so it is not asked for its veto again. */
async function readAgain(call: ToolCall, tool: AnyTool, given: unknown): Promise<ValidReading | undefined> {
  const read = readInput(tool, given, call.executor.settings.maxInputChars)
  const reading = read.status === 'unread' ? await read.pending : read
  if (reading.status === 'invalid') return undefined
  if (tool.normalizeInput === undefined) return reading
  return { status: 'valid', input: await tool.normalizeInput(reading.input, call.context) }
}

function follow(call: ToolCall, { decision }: Records['call.started'], recovery: Recovery): void {
  if (!call.isIn('recovering')) return
  if (recovery === 'again') {
    if (decision !== undefined) recordDecision(call, decision)
    return call.tell({ type: 'call.recovered' })
  }
  if (typeof recovery !== 'object' || recovery === null || !('data' in recovery)) return endUnknown(call)
  call.bodyResult = { ok: true, result: recovery }
  call.tell({ type: 'tool.settled', end: endOf(call.bodyResult), willRetry: false, needsFormatting: true })
}

/** Counts as a failure for the calls beside it, unless the call was aborted anyway, and is never retried. */
export function endUnknown(call: ToolCall): void {
  const { stopCause } = call
  call.startedTimer?.clear()
  const { toolUseResult: message } = resultTexts.unknownOutcome()
  const isAborted = stopCause !== undefined && stopCause.kind !== 'timeout'
  const cancels = !isAborted && cancelsSiblings(call, { kind: 'failed', message })
  call.tell({ type: 'outcome.unknown', cancelsSiblings: cancels, description: call.description })
}
