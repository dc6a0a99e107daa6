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

/** A rule that would allow every such call: only where nothing but the mode asks, and the rule needs no brackets. */
export function ruleFor(executor: Pick<Inspectable, 'actor' | 'openQuestions'>, id: string): string | undefined {
  const asked = executor.openQuestions?.().find(({ toolUseID }) => toolUseID === id)
  const { calls } = executor.actor.getSnapshot().context.run
  const call = asked?.because?.by === 'mode' ? calls.find((call) => call.id === id) : undefined
  const tool = (call as ToolCall | undefined)?.tool
  return tool !== undefined && tool.matchesRule === undefined ? tool.name : undefined
}

/** A question is derived from the input, so it is redacted as one too. */
export function questionOf(show: Show, hide: Hide, asked: AskedQuestion, rule: string | undefined): EncodedQuestion {
  const { toolUseID, toolName, input, because, message } = asked
  const where = { toolUseID, toolName }
  const hidden = hide(input, { what: 'input', ...where })
  // a hook or a tool may have put the input into its words
  const words = hidden === input ? message : undefined
  return {
    call: toolUseID,
    name: toolName,
    input: show(hidden, { what: 'question', ...where }),
    ...(because !== undefined && { because: sourceOf(show, because, undefined) }),
    ...(rule !== undefined && { rule }),
    ...(words !== undefined && { message: asText(show(words, { what: 'question', ...where })) }),
  }
}
