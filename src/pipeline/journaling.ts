import { laneOf } from '../../machines/index.ts'
import { resultTexts } from '../results/result-texts.ts'
import { whenFlushed } from './call-records.ts'
import { ownErrorMessage } from './own-error.ts'
import type { ToolCall } from './tool-call.ts'

/** The state `journaling` before `calling`: the decision and the start of the call are durable before its body begins. */
export function journalStart(call: ToolCall): void {
  const { log } = call.executor
  if (log === undefined || !call.isIn('journaling')) return
  if (!call.onlyReads) {
    log.append({ t: 'call.started', ...call.named, input: call.rawInput, decision: call.decision })
  }
  const goOn = (isDurable: boolean): void => (isDurable ? call.tell({ type: 'start.journaled' }) : refuse(call))
  // a call that runs alone: no start of another one could go with its own
  whenFlushed(call, goOn, laneOf(call) === 'exclusive')
}

function refuse(call: ToolCall): void {
  if (!call.isIn('journaling')) return
  const text = resultTexts.notRecorded()
  call.outcome = { status: 'failed', message: text.toolUseResult, label: 'NotRecorded' }
  call.outgoing.set([ownErrorMessage(call, text)])
  call.tell({ type: 'start.failed' })
}
