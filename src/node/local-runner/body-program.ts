import type { BodyOutcome, RemoteResult } from '../../remote/index.ts'

/** A message to the process of a body. */
export type ToBody =
  | {
      readonly type: 'run'
      readonly id: number
      readonly tool: string
      readonly toolUseID: string
      readonly input: unknown
      readonly context: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'abort'; readonly id: number; readonly reason: unknown }

/** A message from that process. */
export type FromBody =
  | { readonly type: 'ready'; readonly tools: readonly { name: string; version?: string; schema: string }[] }
  | { readonly type: 'broken'; readonly problem: string }
  | { readonly type: 'progress'; readonly id: number; readonly data: unknown }
  | { readonly type: 'outcome'; readonly id: number; readonly outcome: BodyOutcome }

/** How the program hears and answers. */
interface BodyChannel {
  send(message: FromBody): void
  listen(listener: (message: ToBody) => void): void
}

/** The channel to the process that has started this one. Passed as text, like the program. */
export function parentChannel(): BodyChannel {
  const { process } = globalThis
  // the process that sent the bodies is gone
  process.on('disconnect', () => process.exit())
  return {
    send: (message) => void process.send?.(message, undefined, undefined, () => undefined),
    listen: (listener) => void process.on('message', listener),
  }
}

/**
 * The program that runs bodies. It is passed to a process as text, so it uses nothing from outside of itself: a bundled
 * host has no file that the process could load.
 */
export function bodyProgram(
  specifier: string,
  load: (specifier: string) => Promise<object>,
  { send, listen }: BodyChannel,
): void {
  interface FoundTool {
    readonly name: string
    readonly version?: unknown
    readonly inputJSONSchema?: object
    readonly inputSchema: {
      toJSONSchema?(options: { io: 'input' }): object
      safeParseAsync(value: unknown): Promise<{ success: boolean; data?: unknown; error?: Error }>
    }
    call(...args: unknown[]): unknown
  }
  const progressGapMs = 100
  const maxProgressChars = 8_000
  const tools = new Map<string, FoundTool>()
  const controllers = new Map<number, AbortController>()
  const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
  const isTool = (value: unknown): value is FoundTool =>
    isObject(value) && typeof value.name === 'string' && typeof value.call === 'function' && isObject(value.inputSchema)

  const schemaOf = ({ inputJSONSchema, inputSchema }: FoundTool): string => {
    if (inputJSONSchema !== undefined) return JSON.stringify(inputJSONSchema)
    const { $schema, ...schema } = (inputSchema.toJSONSchema?.({ io: 'input' }) ?? {}) as { $schema?: unknown }
    return JSON.stringify({ ...schema, type: 'object' })
  }

  async function start(): Promise<void> {
    const exported = Object.values(await load(specifier))
    for (const each of exported.flatMap((value) => (Array.isArray(value) ? value : [value]))) {
      if (isTool(each)) tools.set(each.name, each)
    }
    send({
      type: 'ready',
      tools: [...tools.values()].map((tool) => ({
        name: tool.name,
        ...(tool.version !== undefined && { version: String(tool.version) }),
        schema: schemaOf(tool),
      })),
    })
  }

  /** A few per second, and the newest one last: a tool may report a hundred thousand times. */
  const progressOf = (id: number): { report(data: unknown): void; end(): void } => {
    let newest: { data: unknown } | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let sentAt = -progressGapMs
    const flush = (): void => {
      clearTimeout(timer)
      timer = undefined
      if (newest === undefined) return
      sentAt = performance.now()
      const { data } = newest
      newest = undefined
      const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? 'null')
      const isLong = text.length > maxProgressChars
      send({ type: 'progress', id, data: isLong ? `${text.slice(0, maxProgressChars).toWellFormed()}…` : data })
    }
    return {
      report: (data) => {
        newest = { data }
        const wait = sentAt + progressGapMs - performance.now()
        if (wait <= 0) flush()
        else timer ??= setTimeout(flush, wait)
      },
      end: flush,
    }
  }

  /** A generator is read to its end, past its result. */
  async function follow(returned: unknown, report: (data: unknown) => void): Promise<unknown> {
    const isGenerator = isObject(returned) && Symbol.asyncIterator in returned && typeof returned.next === 'function'
    if (!isGenerator) return returned
    const chunks = returned as unknown as AsyncGenerator<unknown, unknown, undefined>
    let result: unknown
    for (;;) {
      const { done, value } = await chunks.next()
      if (done === true) return result ?? value
      if (!isObject(value)) continue
      if (value.type === 'progress' && result === undefined) report(value.data)
      else if (value.type === 'result') result ??= value
    }
  }

  async function packed(value: unknown): Promise<RemoteResult> {
    const result = isObject(value) && 'data' in value ? value : { data: value }
    const { interrupted, structuredOutput, newMessages, contextModifier } = result
    return {
      data: await result.data,
      ...(typeof interrupted === 'boolean' && { interrupted }),
      ...(structuredOutput !== undefined && { structuredOutput }),
      ...(Array.isArray(newMessages) && { newMessages }),
      ...(contextModifier !== undefined && { dropped: ['contextModifier'] }),
    }
  }

  async function outcomeOf(job: Extract<ToBody, { type: 'run' }>): Promise<BodyOutcome> {
    const tool = tools.get(job.tool)
    if (tool === undefined) return { status: 'notRun', because: `the worker has no tool named ${job.tool}.` }
    // before the first await, so that an abort finds it
    const abortController = new AbortController()
    controllers.set(job.id, abortController)
    const parsed = await tool.inputSchema.safeParseAsync(job.input)
    if (abortController.signal.aborted) return { status: 'notRun', because: 'it was stopped before it began.' }
    if (!parsed.success) {
      return { status: 'notRun', because: `its input does not match the schema. ${parsed.error?.message ?? ''}` }
    }
    const progress = progressOf(job.id)
    const context = { ...job.context, toolUseID: job.toolUseID, abortController, options: { tools: [] } }
    const message = { type: 'assistant', message: { id: '', role: 'assistant', content: [] } }
    let result: RemoteResult
    try {
      const onProgress = (report: { data: unknown } | undefined): void => progress.report(report?.data)
      const returned = tool.call(parsed.data, context, undefined, message, onProgress)
      result = await packed(await follow(await returned, progress.report))
    } catch (error) {
      const { code, telemetryMessage, name } = (isObject(error) ? error : {}) as Record<string, unknown>
      return {
        status: 'threw',
        error: {
          name: typeof name === 'string' ? name : 'Error',
          message: textOf(error),
          ...(typeof code === 'string' && { code }),
          ...(typeof telemetryMessage === 'string' && { telemetryMessage }),
        },
      }
    } finally {
      progress.end()
    }
    try {
      JSON.stringify(result)
      return { status: 'returned', result }
    } catch (error) {
      const message = `The tool finished, but its result cannot be converted to JSON. ${textOf(error)}`
      return { status: 'threw', error: { name: 'Error', message } }
    }
  }

  listen((message) => {
    if (message.type === 'abort') return controllers.get(message.id)?.abort(message.reason)
    const { id } = message
    outcomeOf(message)
      .finally(() => controllers.delete(id))
      .then(
        (outcome) => send({ type: 'outcome', id, outcome }),
        (error) => send({ type: 'outcome', id, outcome: { status: 'notRun', because: `${textOf(error)}` } }),
      )
  })
  start().catch((error) => send({ type: 'broken', problem: textOf(error) }))
}
