import { readField } from '../base/read-field.ts'
import { isThenable, whenSettled } from '../base/when-settled.ts'
import { createProgressMessage } from '../messages/create-messages.ts'
import { areMessages } from '../messages/is-content.ts'
import type { Message } from '../messages/message.ts'
import { isUnknownOutcome } from '../tool/outcome-errors.ts'
import type { AnyTool, ProgressChunk, ResultChunk, ToolResult } from '../tool/tool.ts'
import type { ToolUseContext } from '../tool/tool-use-context.ts'
import type { Account } from '../usage/account.ts'
import type { BodyResult } from './call-facts.ts'
import { detachCall } from './detaching.ts'
import { endOf, needsFormatting, outputOf, textMessage } from './formatting.ts'
import { ownInput } from './hook-input.ts'
import { endUnknown } from './recovering.ts'
import { backoffBefore } from './retrying.ts'
import { askFromBody } from './rule-propagation.ts'
import type { ToolCall } from './tool-call.ts'

type Chunks = AsyncGenerator<ProgressChunk | ResultChunk, ToolResult | void, undefined>

/** The `calling` phase: starts the tool's body and follows it until it settles or is abandoned. */
export function callTool(call: ToolCall): void {
  const { tool, reading } = call
  if (tool === undefined || reading.status !== 'valid') return
  if (call.stopCause !== undefined) {
    return call.tell({ type: 'tool.settled', end: 'failed', willRetry: false, needsFormatting: false })
  }
  const run = new BodyExecution(call)
  call.attempts++
  try {
    // read before the body starts, because the context is fixed from then on
    const { context } = call
    call.body = run
    run.start()
    call.executor.report.started(call)
    const returned = call.executor.inBody(call, startBody, inputFor(call, context, tool, reading.input))
    if (isGenerator(returned)) run.follow(returned)
    else run.await(returned)
  } catch (error) {
    call.body = run
    run.settle({ ok: false, error })
  }
}

/** Runs the tool's own code, up to its first await. */
function startBody(call: ToolCall, input: Record<string, unknown>): unknown {
  const { tool, body, context, assistantMessage } = call
  return tool?.call(input, context, askFromBody(call), assistantMessage, (progress) =>
    body?.progress(progress?.data, progress?.toolUseID),
  )
}

/** A copy if the input is used again later: by the next attempt, or by a hook. A timer may be what continues the call then. */
function inputFor(
  call: ToolCall,
  { hooks }: ToolUseContext,
  { retry }: AnyTool,
  input: Record<string, unknown>,
): Record<string, unknown> {
  if (retry === undefined && hooks === undefined) return input
  call.keepAsyncContext()
  return ownInput(call)
}

/** One run of a body, until it settles or is abandoned. Anything it sends after that is late. */
export class BodyExecution {
  #call: ToolCall
  readonly #startedAt: number
  #state: 'running' | 'settled' | 'abandoned' = 'running'
  /** The account that counts its time while it is under way. */
  readonly #timed: Account | undefined
  #chunks: Chunks | undefined

  constructor(call: ToolCall) {
    this.#call = call
    this.#startedAt = call.executor.settings.idsAndTime.now()
    const { account } = call.executor
    if (account?.isTimed !== true || call.tool?.isAgent === true) return
    this.#timed = account
    account.begin()
  }

  start(): void {
    const timeout = this.#call.tool?.timeout
    if (timeout !== undefined) this.#call.timer.start(timeout)
    if (this.#call.tool?.background !== undefined) this.#startDetach(this.#call)
  }

  /** The body goes on for another call: what it reports from now on is about that one. */
  moveTo(call: ToolCall): void {
    this.#call = call
  }

  /** The call that the body works for: after it was sent to the background, the one there. */
  get call(): ToolCall {
    return this.#call
  }

  progress(data: unknown, toolUseID: unknown): void {
    if (this.#state !== 'running') return this.#tooLate('progress')
    this.#call.startedTimer?.extend()
    const { executor, id } = this.#call
    const siblings = executor.siblingsOf(this.#call)
    const message = createProgressMessage(
      {
        toolUseID: typeof toolUseID === 'string' ? toolUseID : id,
        parentToolUseID: id,
        ...(siblings.length > 0 && { siblingToolUseIDs: siblings }),
        data,
      },
      executor.settings.idsAndTime,
    )
    executor.addProgress(this.#call, message)
  }

  /** Continues at once for a plain value; a thenable that throws is an error of the tool. */
  await(returned: unknown): void {
    if (!isThenable(returned)) return this.finish(settledWith(this.#call, returned))
    // through a real promise, because a thenable may call back twice
    Promise.resolve(returned).then(
      (value) => this.finish(settledWith(this.#call, value)),
      (error) => this.settle({ ok: false, error }),
    )
  }

  /** If `data` is itself a promise, it belongs to the work and is awaited. */
  finish(bodyResult: BodyResult): void {
    if (!bodyResult.ok || typeof readField(bodyResult.result.data, 'then') !== 'function')
      return this.settle(bodyResult)
    const { result } = bodyResult
    whenSettled(
      () => result.data,
      (data) => this.settle({ ok: true, result: { ...result, data } }),
      (error) => this.settle({ ok: false, error }),
    )
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  settle(bodyResult: BodyResult): void {
    if (this.#state !== 'running') return this.#tooLate(bodyResult.ok ? 'a result' : 'an error')
    this.#state = 'settled'
    this.#timed?.end()
    const call = this.#call
    call.bodyResult = bodyResult
    const ms = Math.max(0, call.executor.settings.idsAndTime.now() - this.#startedAt)
    call.bodyMs = (call.bodyMs ?? 0) + ms
    // the time of an agent is that of its own requests and calls
    if (ms > 0 && call.tool?.isAgent !== true) call.executor.account?.tool(ms)
    if (!bodyResult.ok && isUnknownOutcome(bodyResult.error)) return endUnknown(call)
    call.backoffMs = bodyResult.ok ? undefined : backoffBefore(call, bodyResult.error)
    const willRetry = call.backoffMs !== undefined
    if (!willRetry) call.startedTimer?.clear()
    const needs = needsFormatting(call, bodyResult)
    if (!needs && bodyResult.ok) call.outgoing.set([textMessage(call, bodyResult.result.data as string)])
    if (call.stopCause !== undefined) call.outputUntilStopped = outputOf(call)
    call.tell({ type: 'tool.settled', end: endOf(bodyResult), willRetry, needsFormatting: needs })
  }

  startGrace(ms: number): void {
    if (this.#state === 'running') this.#call.timer.startGrace(ms, () => this.#call.tell({ type: 'call.graceEnded' }))
  }

  abandon(): void {
    if (this.#state !== 'running') return
    this.#state = 'abandoned'
    this.#timed?.end()
    // a generator that still yields ends at its next yield; an error on the way out does not matter
    const chunks = this.#chunks
    if (chunks !== undefined) {
      this.#call.executor.push(() => whenSettled(() => chunks.return(undefined), ignore, ignore))
    }
  }

  /** A generator is read to its end, past its result: only then does its body count as ended. */
  async follow(chunks: Chunks): Promise<void> {
    this.#chunks = chunks
    let result: BodyResult | undefined
    try {
      for (;;) {
        const step = await chunks.next()
        if (step.done === true) {
          return this.finish(result ?? this.#lastWord(step.value))
        }
        result = this.#takeChunk(step.value, result)
      }
    } catch (error) {
      if (result === undefined) return this.settle({ ok: false, error })
      this.#call.executor.warn(this.#call, 'unexpected_chunk', 'it failed after its result', error)
      this.settle(result)
    }
  }

  #takeChunk(chunk: ProgressChunk | ResultChunk, result: BodyResult | undefined): BodyResult | undefined {
    const { executor } = this.#call
    if (result !== undefined) executor.warn(this.#call, 'unexpected_chunk', 'it sent something after its result')
    else if (chunk?.type === 'progress') this.progress(chunk.data, undefined)
    else if (chunk?.type === 'result') return settledWith(this.#call, chunk)
    else executor.warn(this.#call, 'unexpected_chunk', 'it yielded something that is neither progress nor result')
    return result
  }

  #lastWord(value: ToolResult | void): BodyResult {
    if (value === undefined) this.#call.executor.warn(this.#call, 'unexpected_return', 'it ended without a result')
    return settledWith(this.#call, value)
  }

  #startDetach(call: ToolCall): void {
    const { tool, executor } = call
    const afterMs = tool?.background?.afterMs
    if (executor.background === undefined || afterMs === undefined || afterMs > maxDelay) return
    call.timer.startDetach(afterMs, () => void detachCall(call))
  }

  #tooLate(what: string): void {
    this.#call.executor.warn(this.#call, 'late', `${what} came after the call had ended`)
  }
}

/** The longest delay that timers support. */
const maxDelay = 2 ** 31 - 1

const ignore = (): void => undefined

const isGenerator = (value: unknown): value is Chunks =>
  typeof value === 'object' &&
  value !== null &&
  (Symbol.asyncIterator in value || Symbol.iterator in value) &&
  typeof (value as Chunks).next === 'function'

/** Read once, because a result with getters that throw is an error of the tool. */
function settledWith(call: ToolCall, value: unknown): BodyResult {
  try {
    return { ok: true, result: resultOf(call, value) }
  } catch (error) {
    return { ok: false, error }
  }
}

/** A return value without `{ data }` is taken as the data: the work is done, so it must not be lost. */
function resultOf(call: ToolCall, value: unknown): ToolResult {
  if (value === undefined) return { data: undefined }
  if (typeof value === 'object' && value !== null && 'data' in value) {
    if ('resultForAssistant' in value) {
      call.executor.warn(
        call,
        'foreign_field',
        'Signalbox ignores resultForAssistant. Give the tool a mapResult(data, toolUseID).',
      )
    }
    const { data, interrupted, contextModifier, structuredOutput, newMessages } = value as ToolResult
    const isPlain = contextModifier === undefined && structuredOutput === undefined && newMessages === undefined
    if (isPlain && interrupted === undefined) return { data }
    return {
      data,
      ...(typeof interrupted === 'boolean' && { interrupted }),
      ...(contextModifier !== undefined && { contextModifier }),
      ...(structuredOutput !== undefined && { structuredOutput }),
      ...(newMessages !== undefined && { newMessages: checkedMessages(call, newMessages) }),
    }
  }
  call.executor.warn(call, 'unexpected_return', 'it returned something other than { data }')
  return { data: value }
}

function checkedMessages(call: ToolCall, messages: readonly Message[]): Message[] {
  if (areMessages(messages)) return [...messages]
  call.executor.warn(call, 'invalid_new_messages', 'its newMessages are not a list of messages and were ignored')
  return []
}
