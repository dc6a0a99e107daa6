import { type KeptContext, keptOf } from '../journal/kept-context.ts'
import type { RecordedEnding } from '../journal/records.ts'
import type { RunLog } from '../journal/run-log.ts'
import { createSystemMessage } from '../messages/create-messages.ts'
import { whenFlushed } from './call-records.ts'
import type { DetachedAs } from './detaching.ts'
import type { ToolCall } from './tool-call.ts'

/** The state `recording` of `completed`: no part of a result is delivered before it is durable. */
export function recordResult(call: ToolCall): void {
  const { executor } = call
  const { log } = executor
  if (log === undefined || executor.isDiscarded) return
  if (call.background !== undefined) recordDetached(call, log, call.background)
  const ending = recordedEnding(call)
  const read = executor.background?.readBy(call) ?? []
  const changesContext = log.contextKeys.length > 0 && call.hasModifier
  // undefined for the next call in order
  const early = changesContext ? earlyChanges(call, log) : undefined
  log.append({
    t: 'call.completed',
    ...call.named,
    messages: call.outgoing.prepare(),
    ...(read.length > 0 && { read }),
    ...(ending !== undefined && { ending }),
    ...(changesContext && (early ?? keptAfter(call, log))),
  })
  if (!changesContext) return flushResult(call)
  // modifiers are applied in the order of the calls, which may be later
  call.onContextApplied = recordWithChange
  if (early === undefined) recordWithChange(call)
}

function recordWithChange(call: ToolCall): void {
  if (recordChange(call)) flushResult(call)
}

/** The context after the call, for the log. False if its executor was discarded. */
export function recordChange(call: ToolCall): boolean {
  const { log, isDiscarded } = call.executor
  if (log === undefined || isDiscarded) return false
  log.append({ t: 'context.changed', optional: true, ...call.named, ...keptAfter(call, log) })
  return true
}

/** If the modifiers of later calls have been applied too, their changes may be in the log already. */
const keptAfter = ({ executor }: ToolCall, { contextKeys }: RunLog): KeptContext =>
  keptOf(executor.currentContext, contextKeys)

/** Functions cannot be recorded: a process that goes on before the modifier is applied has only its changes as of now. */
function earlyChanges(call: ToolCall, { contextKeys }: RunLog): KeptContext | undefined {
  const preview = call.executor.previewContext(call)
  if (preview === undefined) return undefined
  const { before, after } = preview
  return keptOf(
    after,
    contextKeys.filter((key) => after[key] !== before[key]),
  )
}

/** Before the call's result: a process that stops between the two must still know that a body runs. */
function recordDetached(call: ToolCall, log: RunLog, { id, how }: DetachedAs): void {
  const { isAwaited, onEnd } = how
  log.append({
    t: 'background.started',
    ...call.named,
    id,
    isAwaited,
    onEnd,
    input: call.rawInput,
    decision: call.decision,
  })
}

function flushResult(call: ToolCall): void {
  whenFlushed(call, (isDurable) => {
    call.isDurable = true
    if (isDurable) return call.tell({ type: 'result.recorded' })
    call.outgoing.replace(notRecordedMessage(call))
    call.tell({ type: 'result.unrecorded' })
  })
}

function recordedEnding({ ending, body }: ToolCall): RecordedEnding | undefined {
  if (ending?.by === 'abort') return { by: 'abort', kind: ending.cause.kind, reached: ending.reached }
  if (ending?.by === 'result' && body === undefined) return { by: 'result', reached: 'notStarted' }
  return ending === undefined || ending.by === 'result' || ending.by === 'journal' ? undefined : { by: ending.by }
}

/** Not a result: a resumed session decides what becomes of the call. */
const notRecordedMessage = ({ id, name, executor }: ToolCall) =>
  createSystemMessage(
    {
      subtype: 'result_not_recorded',
      toolUseID: id,
      toolName: name,
      message: 'The result of this call could not be recorded. Resume the session to find out what became of it.',
    },
    executor.settings.idsAndTime,
  )
