import type { BodyEnd, TimeoutCause } from '../../machines/index.ts'
import { classifyToolError, describeError } from '../base/describe-error.ts'
import { answerAtOnce } from '../base/when-settled.ts'
import { createAttachmentMessage } from '../messages/create-messages.ts'
import type { Message, ToolResultBlock } from '../messages/message.ts'
import {
  defaultMaxResultSizeChars,
  formatData,
  isTooLong,
  limitSize,
  withoutEmptyTexts,
} from '../results/format-data.ts'
import { maxStoredChars, textOf } from '../results/long-result.ts'
import { type ResultText, resultTexts } from '../results/result-texts.ts'
import { isDidNotRun } from '../tool/outcome-errors.ts'
import type { ToolFailure, ToolResult } from '../tool/tool.ts'
import type { BodyResult } from './call-facts.ts'
import { cancelsSiblings } from './cancels-siblings.ts'
import { ownErrorMessage, resultMessage } from './own-error.ts'
import { storeResult } from './store-result.ts'
import type { ToolCall } from './tool-call.ts'

/** A short text needs no formatting phase. */
export function needsFormatting({ tool }: ToolCall, bodyResult: BodyResult): boolean {
  if (!bodyResult.ok || tool?.mapResult !== undefined) return true
  const { data, newMessages, structuredOutput } = bodyResult.result
  if (typeof data !== 'string' || newMessages !== undefined || structuredOutput !== undefined) return true
  return data === '' || data.length > (tool?.maxResultSizeChars ?? defaultMaxResultSizeChars) || !data.isWellFormed()
}

export function textMessage(call: ToolCall, text: string): Message {
  return resultMessage(call, { type: 'tool_result', tool_use_id: call.id, content: text }, text)
}

/** The `formatting` phase: converts the outcome of the body to the messages of the call. */
export function formatResult(call: ToolCall): void {
  if (call.stopCause?.kind === 'timeout') return finish(call, fromTimeout(call, call.stopCause))
  const { bodyResult } = call
  if (bodyResult?.ok !== true) {
    const text = resultTexts.failed(describeError(bodyResult?.error), call.attempts)
    return finish(call, failed(call, 'failed', text, bodyResult?.error))
  }
  const { replacement } = call
  if (replacement === undefined) return formatOutcome(call, bodyResult.result)
  const replaced = { ...bodyResult.result, data: replacement.data }
  formatOutcome(call, replaced, (error) => {
    // never the original: a hook may have replaced it because it must not be shown
    call.executor.warn(
      call,
      'hook_output_unmapped',
      `mapResult cannot take what ${replacement.by} put in its place`,
      error,
    )
    formatOutcome(call, replaced, unformattable(call), asItIs)
  })
}

function finish(call: ToolCall, { messages, failure }: Formatted): void {
  call.outgoing.set(messages)
  if (failure !== undefined) {
    call.outcome = {
      status: 'failed',
      message: failure.message,
      label: labels[failure.kind]?.() ?? classifyToolError(failure.error),
      ...('error' in failure && { error: failure.error }),
    }
  }
  const cancels = failure !== undefined && !call.isDetached && cancelsSiblings(call, failure)
  const description = cancels === false ? '' : call.description
  call.tell({ type: 'result.formatted', cancelsSiblings: cancels, description })
}

type Form = (call: ToolCall, data: unknown, maxChars: number) => ToolResultBlock

function formatOutcome(
  call: ToolCall,
  result: ToolResult,
  otherwise = unformattable(call),
  form: Form = asMapped,
): void {
  const { resultStore } = call.executor.settings
  const maxChars = maxCharsOf(call)
  try {
    const block = form(call, result.data, resultStore === undefined ? maxChars : Math.max(maxChars, maxStoredChars))
    if (resultStore === undefined || !isTooLong(block, maxChars)) {
      return finish(call, fromBlock(call, result, limitSize(block, maxChars)))
    }
    storeResult(call, resultStore, block, maxChars, (stored) => finish(call, fromBlock(call, result, stored)))
  } catch (error) {
    otherwise(error)
  }
}

const unformattable =
  (call: ToolCall) =>
  (error: unknown): void =>
    finish(call, failed(call, 'unformattable', resultTexts.unformattable(describeError(error)), error))

/** Telemetry labels, without any text of a user or a model. */
const labels: { [Kind in ToolFailure['kind']]?: () => string } = {
  timeout: () => 'Timeout',
  unformattable: () => 'Unformattable',
}

const maxCharsOf = ({ tool }: ToolCall): number => tool?.maxResultSizeChars ?? defaultMaxResultSizeChars

interface Formatted {
  readonly messages: Message[]
  readonly failure?: ToolFailure
}

function fromTimeout(call: ToolCall, cause: TimeoutCause): Formatted {
  return failed(call, 'timeout', resultTexts.timedOut(cause, endOf(call.bodyResult), call.outputUntilStopped))
}

/** Only the body knows whether it finished. */
export function endOf(bodyResult: BodyResult | undefined): BodyEnd {
  if (bodyResult?.ok !== true) return isDidNotRun(bodyResult?.error) ? 'notStarted' : 'failed'
  const { interrupted } = bodyResult.result
  return interrupted === undefined ? 'returned' : interrupted ? 'cutShort' : 'finished'
}

/**
 * The output of a body that was told to stop and still returned: the model needs it. Left out if a hook would have had to
 * see it first, because no hooks run for an aborted call.
 */
export function outputOf(call: ToolCall): string | undefined {
  const { bodyResult } = call
  if (bodyResult?.ok !== true || bodyResult.result.data === undefined || call.mayBeReplaced) return undefined
  const maxChars = maxCharsOf(call)
  try {
    return textOf(limitSize(asMapped(call, bodyResult.result.data, maxChars), maxChars)) || undefined
  } catch {
    return undefined
  }
}

function failed(call: ToolCall, kind: ToolFailure['kind'], text: ResultText, error?: unknown): Formatted {
  return {
    messages: [ownErrorMessage(call, text)],
    failure: { kind, message: text.toolUseResult, ...(error !== undefined && { error }) },
  }
}

function fromBlock(call: ToolCall, result: ToolResult, block: ToolResultBlock): Formatted {
  const messages = [resultMessage(call, block, result.data), ...besides(call, result)]
  if (block.is_error !== true) return { messages }
  const message = typeof block.content === 'string' ? block.content : ''
  return { messages, failure: { kind: 'failed', data: result.data, message } }
}

const asItIs: Form = ({ id }, data, maxChars) => formatData(data, id, maxChars)

const asMapped: Form = (call, data, maxChars) => {
  const { tool, id } = call
  if (tool?.mapResult === undefined) return asItIs(call, data, maxChars)
  const mapped: unknown = answerAtOnce<unknown>(tool.mapResult(data, id))
  if (!isResultBlock(mapped)) throw new TypeError('mapResult must return a tool_result block')
  const block = withoutEmptyTexts(mapped)
  // the API rejects an error without content
  const isSilent = block.is_error === true && block.content.length === 0
  return { ...block, tool_use_id: id, ...(isSilent && { content: resultTexts.failedSilently().content }) }
}

function isResultBlock(value: unknown): value is ToolResultBlock {
  if (typeof value !== 'object' || value === null) return false
  const { type, content } = value as Partial<ToolResultBlock>
  return (
    type === 'tool_result' && (typeof content === 'string' || (Array.isArray(content) && [...content].every(isBlock)))
  )
}

const isBlock = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

/** The additional messages of a call. */
function besides(call: ToolCall, { structuredOutput, newMessages }: ToolResult): Message[] {
  const { idsAndTime } = call.executor.settings
  const besides: Message[] = []
  if (structuredOutput !== undefined) {
    besides.push(createAttachmentMessage({ type: 'structured_output', data: structuredOutput }, call.id, idsAndTime))
  }
  return [...besides, ...(newMessages ?? [])]
}
