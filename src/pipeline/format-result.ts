import type { TimeoutCause } from '../../machines/index.ts'
import { answerAtOnce } from '../errors/answer-at-once.ts'
import { classifyToolError } from '../errors/classify-tool-error.ts'
import { describeError } from '../errors/describe-error.ts'
import { createAttachmentMessage } from '../messages/create-messages.ts'
import type { Message, ToolResultBlock } from '../messages/message.ts'
import { defaultMaxResultSizeChars, formatData, isTooLong, limitSize } from '../results/format-data.ts'
import { maxStoredChars } from '../results/long-result.ts'
import { type ResultText, resultTexts } from '../results/result-texts.ts'
import type { ToolFailure, ToolResult } from '../tool/tool.ts'
import type { Settled } from './call-facts.ts'
import { cancelsSiblings } from './cancels-siblings.ts'
import { ownErrorMessage, resultMessage } from './own-error.ts'
import { storeResult } from './store-result.ts'
import type { ToolCall } from './tool-call.ts'

/** A short text that stands for itself needs no phase of its own. */
export function needsFormatting({ tool }: ToolCall, settled: Settled): boolean {
  if (!settled.ok || tool?.mapResult !== undefined) return true
  const { data, newMessages, structuredOutput } = settled.result
  if (typeof data !== 'string' || newMessages !== undefined || structuredOutput !== undefined) return true
  return data === '' || data.length > (tool?.maxResultSizeChars ?? defaultMaxResultSizeChars) || !data.isWellFormed()
}

export function textMessage(call: ToolCall, text: string): Message {
  return resultMessage(call, { type: 'tool_result', tool_use_id: call.id, content: text }, text)
}

/** The `formatting` phase: from what the body left to the messages of the call. */
export function formatResult(call: ToolCall): void {
  if (call.stopCause?.kind === 'timeout') return finish(call, fromTimeout(call, call.stopCause))
  const { settled } = call
  if (settled?.ok !== true) {
    const text = resultTexts.failed(describeError(settled?.error), call.attempts)
    return finish(call, failed(call, 'failed', text, settled?.error))
  }
  const { replacement } = call
  if (replacement === undefined) return formatOutcome(call, settled.result)
  const replaced = { ...settled.result, data: replacement.data }
  formatOutcome(call, replaced, (error) => {
    // never the original: a hook may have replaced it because it must not be seen
    call.turn.warn(call, 'hook_output_unmapped', `mapResult cannot take what ${replacement.by} put in its place`, error)
    formatOutcome(call, replaced, unformattable(call), asItIs)
  })
}

function finish(call: ToolCall, { messages, failure }: Formatted): void {
  call.setMessages(messages)
  if (failure !== undefined) {
    call.outcome = {
      status: 'failed',
      message: failure.message,
      label: labels[failure.kind]?.() ?? classifyToolError(failure.error),
    }
  }
  const cancels = failure !== undefined && cancelsSiblings(call, failure)
  call.tell({ type: 'result.formatted', cancelsSiblings: cancels, description: cancels ? call.description : '' })
}

type Form = (call: ToolCall, data: unknown, maxChars: number) => ToolResultBlock

function formatOutcome(
  call: ToolCall,
  result: ToolResult,
  otherwise = unformattable(call),
  form: Form = asMapped,
): void {
  const { resultStore } = call.turn.settings
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

/** For telemetry: nothing of what a user or a model wrote. */
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
  return failed(call, 'timeout', resultTexts.timedOut(cause, call.settled?.ok === true))
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
  // the API refuses an error that says nothing
  const isSilent = mapped.is_error === true && mapped.content.length === 0
  return { ...mapped, tool_use_id: id, ...(isSilent && { content: resultTexts.failedSilently().content }) }
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

/** What a call leaves beside its result. */
function besides(call: ToolCall, { structuredOutput, newMessages }: ToolResult): Message[] {
  const { stamps } = call.turn.settings
  const besides: Message[] = []
  if (structuredOutput !== undefined) {
    besides.push(createAttachmentMessage({ type: 'structured_output', data: structuredOutput }, call.id, stamps))
  }
  return [...besides, ...(newMessages ?? [])]
}
