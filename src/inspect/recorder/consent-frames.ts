import type { Decision, DecisionSource } from '../../../machines/index.ts'
import type { ToolCall } from '../../pipeline/tool-call.ts'
import type { PermissionQuestion } from '../../tool/permission.ts'
import type { AttemptFrame, DecisionFrame, EncodedQuestion, EncodedSource } from '../frames/frame.ts'
import type { Hide, Show } from '../frames/redact.ts'
import { asText, whereabouts } from './call-frames.ts'
import type { Inspectable } from './run-watch.ts'

/** A question that the host has not answered yet. */
export interface AskedQuestion extends Partial<PermissionQuestion> {
  readonly toolUseID: string
  readonly toolName: string
  readonly input: unknown
}

/** The source of the decision, with the rule, the mode or the hook by name. */
function sourceOf(show: Show, source: DecisionSource, hookName: string | undefined): EncodedSource {
  const name = source.by === 'rule' ? source.rule : source.by === 'mode' ? source.mode : hookName
  if (source.by === 'loop') return { by: 'loop', name: `${source.repeats} times` }
  if (name === undefined || source.by === 'tool' || source.by === 'host') return { by: source.by }
  return { by: source.by, name: asText(show(name, { what: 'rule' })) }
}

export const decisionFrame = (show: Show, call: ToolCall, { behavior, source }: Decision): DecisionFrame => ({
  type: 'decision',
  call: call.id,
  behavior,
  source: sourceOf(show, source, call.hookVerdict?.hookName),
})

/** The error of a body, which the result of a later attempt would hide. */
export function attemptFrame(show: Show, call: ToolCall): AttemptFrame | undefined {
  const { bodyResult, attempts, backoffMs = null, stopCause } = call
  // one that was told to stop has not failed
  if (bodyResult === undefined || bodyResult.ok || stopCause !== undefined) return undefined
  const error = show(bodyResult.error, { what: 'result', ...whereabouts(call) })
  return { type: 'attempt', call: call.id, attempt: attempts, error, backoffMs }
}

/** The rule that an open question offers. */
export const ruleFor = (executor: Pick<Inspectable, 'openQuestions'>, id: string): string | undefined =>
  executor.openQuestions?.().find(({ toolUseID }) => toolUseID === id)?.rule

/** A question is derived from the input, so it is redacted as one too. */
export function questionOf(show: Show, hide: Hide, asked: AskedQuestion): EncodedQuestion {
  const { toolUseID, toolName, input, because } = asked
  const where = { toolUseID, toolName }
  const hidden = hide(input, { what: 'input', ...where })
  // a message or a rule may have the input in it
  const { message: words, rule } = hidden === input ? asked : { message: undefined, rule: wholeRule(asked) }
  return {
    call: toolUseID,
    name: toolName,
    input: show(hidden, { what: 'question', ...where }),
    ...(because !== undefined && { because: sourceOf(show, because, undefined) }),
    ...(rule !== undefined && { rule }),
    ...(words !== undefined && { message: asText(show(words, { what: 'question', ...where })) }),
  }
}

const wholeRule = ({ rule, toolName }: AskedQuestion): string | undefined => (rule === toolName ? rule : undefined)
