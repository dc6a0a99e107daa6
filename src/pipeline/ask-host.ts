import { describeError } from '../errors/describe-error.ts'
import { resultTexts } from '../results/result-texts.ts'
import { describeValue } from '../text/describe-value.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import type { AnyTool } from '../tool/tool.ts'
import { changeInput } from './change-input.ts'
import { hasNewDenyRules, uphold } from './decide.ts'
import { denyCall } from './deny-call.ts'
import { addRules } from './heard-rules.ts'
import { ownInput } from './hook-input.ts'
import type { ToolCall } from './tool-call.ts'
import { whenSettled } from './when-settled.ts'

const byHost = { by: 'host' } as const

/** The second half of the `permission` phase: the host's word. Whatever is not a clear yes is a no. */
export function askHost(call: ToolCall): void {
  const { tool, reading } = call
  const { canUseTool } = call.turn
  if (tool === undefined || reading.status !== 'valid' || !call.isIn('permission')) return
  call.permit.isAsking = true
  if (canUseTool === undefined) return denyCall(call, resultTexts.nobodyToAsk(call.name), byHost)
  whenSettled(
    () => canUseTool(tool, ownInput(call), call.context, call.assistantMessage, call.id, call.permit.question),
    (answer) => takeAnswer(call, tool, readAnswer(answer)),
    (error) => takeAnswer(call, tool, { behavior: 'unclear', problem: describeError(error) }),
  )
}

/** Somebody else answers in the host's place. The first answer counts: false says that it came too late. */
export function answerFor(call: ToolCall, answer: PermissionAnswer): boolean {
  const { tool } = call
  if (tool === undefined || !call.isAsking) return false
  takeAnswer(call, tool, readAnswer(answer))
  return true
}

type Answer = PermissionAnswer | { behavior: 'unclear'; problem: string }

/** Read once, here: an answer that throws when it is read is no clear yes. */
function readAnswer(answer: PermissionAnswer): Answer {
  try {
    if (answer?.behavior === 'allow') return { ...answer }
    if (answer?.behavior === 'deny') return { ...answer }
    const problem = `The answer was ${describeValue(answer, 200)}, which is neither allow nor deny.`
    return { behavior: 'unclear', problem }
  } catch (error) {
    return { behavior: 'unclear', problem: describeError(error) }
  }
}

function takeAnswer(call: ToolCall, tool: AnyTool, answer: Answer): void {
  if (!call.isAsking) return
  call.permit.isAsking = false
  if (answer.behavior === 'unclear') return denyCall(call, resultTexts.askingFailed(answer.problem), byHost)
  if (answer.addRules !== undefined) addRules(call, answer.addRules)
  if (answer.behavior === 'allow') return allow(call, tool, answer.updatedInput)
  const hasMessage = typeof answer.message === 'string' && answer.message !== ''
  const text = hasMessage ? resultTexts.denied(answer.message) : resultTexts.denialWithoutMessage()
  const stopsTurn = answer.interrupt === true
  denyCall(call, text, byHost, stopsTurn)
  if (stopsTurn) call.turn.stopTurn('permission_stop')
}

function allow(call: ToolCall, tool: AnyTool, updatedInput: unknown): void {
  const permit = (becameUnsafe: boolean): void => {
    call.recordDecision({ behavior: 'allow', source: byHost })
    call.tell({ type: 'permission.allowed', becameUnsafe })
  }
  if (updatedInput === undefined) return uphold(call, tool, hasNewDenyRules(call), () => permit(false))
  const change = { phase: 'permission', updatedInput, steps: [{ by: 'host', input: updatedInput }] } as const
  changeInput(call, tool, change, (becameUnsafe) => uphold(call, tool, call.needsDeciding, () => permit(becameUnsafe)))
}
