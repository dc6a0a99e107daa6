import type { z } from 'zod'
import { describeError } from '../base/describe-error.ts'
import { invalidOption, unknownOption } from '../base/invalid-option.ts'
import { sha256 } from '../base/sha256.ts'
import { linkOf } from '../pipeline/body-link.ts'
import { isReadOnly } from '../pipeline/classify-call.ts'
import { resultTexts } from '../results/result-texts.ts'
import { DidNotRunError } from '../tool/outcome-errors.ts'
import type { AnyTool, Tool, ToolResult } from '../tool/tool.ts'
import type { ToolCallContext } from '../tool/tool-use-context.ts'
import { exceeds, maxInputBytes } from './body-outcome.ts'
import { remoteToolOf } from './remote-tool.ts'
import type { RemoteResult, RemoteTool, StoredData, ToolRunner } from './tool-runner.ts'

export interface RemoteOptions {
  /**
   * Keys of the context that the body needs, each a plain JSON value. The body gets no other key of the host's context.
   * @default []
   */
  readonly contextKeys?: readonly string[] | undefined
}

/**
 * The same tool with its body elsewhere. Schema, hooks, permissions, order, limits and formatting stay in this process.
 *
 * @example
 * const tools = [remote(renderVideo, localRunner({ tools: new URL('./tools.js', import.meta.url) }))]
 */
export function remote<Schema extends z.ZodObject, Data>(
  tool: Tool<Schema, Data>,
  runner: ToolRunner,
  options: RemoteOptions = {},
): Tool<Schema, Data> {
  const body = new RemoteBody(tool as unknown as AnyTool, runner, checkedKeys(options))
  const { mapResult } = tool
  return {
    ...tool,
    call: (input, context, _canUseTool, { message }, onProgress) =>
      body.run(input, context, message.id, (data) => onProgress({ data })) as Promise<ToolResult<Data>>,
    recover: (input, context) => body.recover(input, context),
    ...(mapResult !== undefined && {
      mapResult: (data, toolUseID) =>
        data instanceof StoredElsewhere
          ? { type: 'tool_result', tool_use_id: toolUseID, content: data.preview }
          : mapResult.call(tool, data, toolUseID),
    }),
  }
}

/** Data that only the worker has: a tool's own `mapResult` cannot take it. */
class StoredElsewhere {
  readonly stored: StoredData
  constructor(stored: StoredData) {
    this.stored = stored
  }

  get preview(): string {
    return resultTexts.stored(this.stored)
  }
}

class RemoteBody {
  readonly #tool: AnyTool
  readonly #runner: ToolRunner
  readonly #contextKeys: readonly string[]
  #known: RemoteTool | undefined

  constructor(tool: AnyTool, runner: ToolRunner, contextKeys: readonly string[]) {
    this.#tool = tool
    this.#runner = runner
    this.#contextKeys = contextKeys
  }

  async run(
    given: Record<string, unknown>,
    context: ToolCallContext,
    reply: string,
    onProgress: (data: unknown) => void,
  ): Promise<ToolResult> {
    const link = linkOf(context)
    const { toolUseID, abortController } = context
    const { timeout } = this.#tool
    const result = await this.#runner.call({
      key: keyOf(link?.session ?? crypto.randomUUID(), reply, toolUseID, link?.attempt ?? 1),
      tool: this.#wanted,
      toolUseID,
      input: asJSON(given, 'its input'),
      context: this.#picked(context),
      again: isReadOnly(this.#tool, given),
      attach: link?.isRecovered ?? false,
      abortGraceMs: link?.abortGraceMs ?? 0,
      timeoutMs: typeof timeout === 'object' ? timeout.totalMs : timeout,
      signal: abortController.signal,
      onProgress,
      onPlace: (place) => link?.place(place),
    })
    for (const field of result.dropped ?? []) {
      link?.warn('not_remote', `its ${field} cannot cross over from the process that ran it, and was dropped`)
    }
    return resultOf(result, this.#tool.mapResult !== undefined)
  }

  /** The call runs `again` under the same key, and so attaches to its job: nothing is sent twice. */
  recover(input: Record<string, unknown>, context: ToolCallContext): 'again' | 'unknown' {
    return linkOf(context) !== undefined || isReadOnly(this.#tool, input) ? 'again' : 'unknown'
  }

  /** Created on first use, because it needs the JSON Schema. */
  get #wanted(): RemoteTool {
    this.#known ??= remoteToolOf(this.#tool)
    return this.#known
  }

  #picked(context: ToolCallContext): Record<string, unknown> {
    const keys = this.#contextKeys.filter((key) => context[key] !== undefined)
    return Object.fromEntries(keys.map((key) => [key, asJSON(context[key], `the key ${key} of its context`)]))
  }
}

/** Not joined by a sign that an id may contain. */
const keyOf = (session: string, reply: string, call: string, attempt: number): string =>
  sha256(JSON.stringify([session, reply, call, attempt]))

/** A copy as it arrives elsewhere. */
function asJSON(value: unknown, what: string): unknown {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw new DidNotRunError(`The call did not run: ${what} cannot be converted to JSON. ${describeError(error)}`)
  }
  if (text === undefined) throw new DidNotRunError(`The call did not run: ${what} cannot be converted to JSON.`)
  if (exceeds(text, maxInputBytes)) {
    const most = maxInputBytes.toLocaleString('en')
    throw new DidNotRunError(
      `The call did not run: ${what} is longer than ${most} bytes, the most that a remote tool takes. Make it shorter, or write it to a file that the tool can read.`,
    )
  }
  return JSON.parse(text)
}

function resultOf({ stored, dropped, ...result }: RemoteResult, isMapped: boolean): ToolResult {
  if (stored === undefined) return { ...result, data: result.data }
  const data = new StoredElsewhere(stored)
  return { ...result, data: isMapped ? data : data.preview }
}

function checkedKeys(options: RemoteOptions): readonly string[] {
  for (const key of Object.keys(options)) if (key !== 'contextKeys') unknownOption(key, ['contextKeys'])
  const { contextKeys = [] } = options
  if (!Array.isArray(contextKeys) || contextKeys.some((key) => typeof key !== 'string')) {
    invalidOption('contextKeys', 'an array of keys', contextKeys)
  }
  return contextKeys
}
