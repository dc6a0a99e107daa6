import type { Reclassification } from '../../machines/index.ts'
import { describeError } from '../base/describe-error.ts'
import { describeValue } from '../base/describe-value.ts'
import { whenSettled } from '../base/when-settled.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { PermissionAnswer, PermissionReply } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { AnswerOrigin } from './ask-channel.ts'
import { denyCall, recordDecision } from './call-permit.ts'
import { recordAnswer, recordQuestion } from './call-records.ts'
import { changeInput } from './change-input.ts'
import { hasNewDenyRules, uphold } from './deciding.ts'
import { ownInput } from './hook-input.ts'
import { reportQuestion, reportQuestionClosed } from './question-reports.ts'
import { addRules, warnOfRules } from './rule-propagation.ts'
import type { ToolCall } from './tool-call.ts'

const byHost = { by: 'host' } as const

/** The second half of the `permission` phase: the host's answer. Anything but a clear yes is a no. */
export function askHost(call: ToolCall): void {
  const { tool, reading } = call
  const { canUseTool } = call.executor
  if (tool === undefined || reading.status !== 'valid' || !call.isIn('permission')) return
  call.permit.isAsking = true
  const { answer } = call.past ?? {}
  // the answer that the log has holds; its rules are in the context already
  if (answer !== undefined) {
    call.permit.isRecorded = true
    return applyAnswer(call, tool, { ...answer, addRules: undefined })
  }
  if (canUseTool === undefined) return denyCall(call, resultTexts.nobodyToAsk(call.name), byHost)
  // with plain permissions nothing was decided: the mode asks
  if (call.decision === undefined && tool.matchesRule === undefined) call.permit.rule = tool.name
  recordQuestion(call)
  let isPending = false
  whenSettled(
    () => canUseTool(tool, ownInput(call), call.context, call.assistantMessage, call.id, call.permit.question),
    (given) => hear(readAnswer(given)),
    (error) => hear({ behavior: 'unclear', problem: describeError(error) }),
  )
  function hear(given: Answer): void {
    if (isPending && given.behavior !== 'later' && offer(call, given)) return
    takeAnswer(call, tool as AnyTool, given, { by: 'host' })
  }
  isPending = true
  if (!call.isAsking) return
  call.tell({ type: 'permission.pending' })
  reportQuestion(call, answerFor)
}

/** Answers in place of the host. The first answer counts: false if this one came too late. */
export function answerFor(call: ToolCall, answer: PermissionAnswer, origin: AnswerOrigin = {}): boolean {
  const { tool } = call
  if (tool === undefined || !call.isAsking) return false
  takeAnswer(call, tool, readAnswer(answer), origin)
  return true
}

/** Somebody else may have answered meanwhile, even in another process: the first durable answer counts. */
function offer({ executor: { log }, permit }: ToolCall, answer: Exclude<Answer, { behavior: 'later' }>): boolean {
  if (log === undefined || permit.recordedAs === undefined) return false
  log.offer(permit.recordedAs, clear(answer))
  return true
}

const clear = (answer: Exclude<Answer, { behavior: 'later' }>): PermissionAnswer =>
  answer.behavior === 'unclear'
    ? { behavior: 'deny', message: resultTexts.askingFailed(answer.problem).toolUseResult }
    : answer

type Answer = PermissionReply | { behavior: 'unclear'; problem: string }

/** Read once, because an answer with getters that throw is not a clear yes. */
function readAnswer(answer: PermissionReply): Answer {
  try {
    if (answer?.behavior === 'allow') return { ...answer }
    if (answer?.behavior === 'deny') return { ...answer }
    if (answer?.behavior === 'later') return { behavior: 'later' }
    const problem = `The answer of canUseTool: expected behavior allow, deny or later, received ${describeValue(answer, 200)}.`
    return { behavior: 'unclear', problem }
  } catch (error) {
    return { behavior: 'unclear', problem: describeError(error) }
  }
}

function takeAnswer(call: ToolCall, tool: AnyTool, answer: Answer, origin: AnswerOrigin): void {
  if (!call.isAsking) return
  // it stays open until it is answered from elsewhere
  if (answer.behavior === 'later') return call.tell({ type: 'permission.deferred' })
  const usable = withUsableRules(call, answer)
  recordAnswer(call, clear(usable), origin)
  applyAnswer(call, tool, usable)
}

/** An invalid rule changes nothing, and the answer still counts. The log must not have it: no later run could begin. */
function withUsableRules<Given extends Exclude<Answer, { behavior: 'later' }>>(call: ToolCall, answer: Given): Given {
  if (answer.behavior === 'unclear' || answer.addRules === undefined) return answer
  try {
    call.executor.checkRules(answer.addRules)
    return answer
  } catch (error) {
    warnOfRules(call, error)
    return { ...answer, addRules: undefined }
  }
}

function applyAnswer(call: ToolCall, tool: AnyTool, answer: Exclude<Answer, { behavior: 'later' }>): void {
  call.permit.isAsking = false
  reportQuestionClosed(call)
  if (answer.behavior === 'unclear') return denyCall(call, resultTexts.askingFailed(answer.problem), byHost)
  if (answer.addRules !== undefined) addRules(call, answer.addRules)
  if (answer.behavior === 'allow') return allow(call, tool, answer.updatedInput)
  const hasMessage = typeof answer.message === 'string' && answer.message !== ''
  const text = hasMessage ? resultTexts.denied(answer.message) : resultTexts.denialWithoutMessage()
  const stopsTurn = answer.interrupt === true
  denyCall(call, text, byHost, stopsTurn)
  if (stopsTurn) call.executor.stopTurn('permission_stop')
}

function allow(call: ToolCall, tool: AnyTool, updatedInput: unknown): void {
  const permit = (reclassified?: Reclassification): void => {
    recordDecision(call, { behavior: 'allow', source: byHost })
    call.tell({ type: 'permission.allowed', change: reclassified })
  }
  if (updatedInput === undefined) return uphold(call, tool, hasNewDenyRules(call), () => permit())
  const change = { phase: 'permission', updatedInput, steps: [{ by: 'host', input: updatedInput }] } as const
  changeInput(call, tool, change, (reclassified) => uphold(call, tool, call.needsDeciding, () => permit(reclassified)))
}
