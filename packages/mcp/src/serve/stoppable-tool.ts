import { type AnyTool, type ProgressChunk, type ResultChunk, type ToolResult, toolError } from 'signalbox'

/**
 * A tool whose calls can be stopped one by one without stopping each other: requests of clients are independent. A
 * call that does not stop within the grace period is abandoned, as everywhere.
 */
export function stoppableTool(
  tool: AnyTool,
  signalOf: (id: string) => AbortSignal | undefined,
  graceMs: number,
): AnyTool {
  const call: AnyTool['call'] = (input, context, canUseTool, message, onProgress) => {
    const stop = signalOf(context.toolUseID)
    if (stop === undefined) return tool.call(input, context, canUseTool, message, onProgress)
    if (stop.aborted) return Promise.reject(cancelled())
    const abortController = new AbortController()
    for (const signal of [stop, context.abortController.signal]) follow(abortController, signal)
    const returned = tool.call(input, { ...context, abortController }, canUseTool, message, onProgress)
    const over = whenOver(stop, graceMs)
    if (Symbol.asyncIterator in returned) return untilOver(returned, over)
    return Promise.race([returned, over.promise]).finally(over.forget)
  }
  // inherited, so that the tool's other properties stay unchanged
  return Object.create(tool, {
    call: { value: call, enumerable: true },
    cancelsSiblingsOnError: { value: false, enumerable: true },
  })
}

const cancelled = (): Error => toolError('The client cancelled this call.', 'Cancelled')

function follow(controller: AbortController, signal: AbortSignal): void {
  if (signal.aborted) controller.abort(signal.reason)
  else
    signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true, signal: controller.signal })
}

interface Over {
  readonly promise: Promise<never>
  forget(): void
}

/** Rejects when a call was stopped and its grace period is over. */
function whenOver(stop: AbortSignal, graceMs: number): Over {
  let timer: ReturnType<typeof setTimeout> | undefined
  let start: () => void = () => undefined
  const promise = new Promise<never>((_, reject) => {
    start = () => {
      timer = setTimeout(() => reject(cancelled()), graceMs)
    }
    stop.addEventListener('abort', start, { once: true })
  })
  promise.catch(() => undefined)
  return {
    promise,
    forget() {
      clearTimeout(timer)
      stop.removeEventListener('abort', start)
    },
  }
}

type Chunks = AsyncGenerator<ProgressChunk | ResultChunk, ToolResult | void, undefined>

async function* untilOver(chunks: Chunks, over: Over): Chunks {
  try {
    for (;;) {
      const step = await Promise.race([chunks.next(), over.promise])
      if (step.done === true) return step.value
      yield step.value
    }
  } finally {
    over.forget()
    void chunks.return(undefined).catch(() => undefined)
  }
}
