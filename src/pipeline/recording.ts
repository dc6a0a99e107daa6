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
  log.append({
    t: 'call.completed',
    ...call.named,
    messages: call.outgoing.prepare(),
    ...(read.length > 0 && { read }),
    ...(ending !== undefined && { ending }),
  })
  if (log.contextKeys.length === 0 || !call.hasModifier) return flushResult(call)
  // modifiers are applied in the order of the calls, which may be later
  const recordContext = (): void => {
    if (executor.isDiscarded) return
    log.append({ t: 'context.changed', optional: true, ...call.named, context: keptContext(call, log.contextKeys) })
    flushResult(call)
  }
  call.onContextApplied = recordContext
  if (call.contextAfter !== undefined) recordContext()
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

const keptContext = ({ contextAfter }: ToolCall, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(keys.map((key) => [key, contextAfter?.[key]]))

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
