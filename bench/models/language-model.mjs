const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const finishReason = { unified: 'tool-calls', raw: 'tool_use' }

/** A language model for the AI SDK and Mastra that requests the calls and ends. */
export function languageModel(calls, pace) {
  const content = calls.map(({ id, name, input }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: JSON.stringify(input),
  }))
  const finish = { type: 'finish', usage, finishReason }
  const send = async (controller) => {
    controller.enqueue({ type: 'stream-start', warnings: [] })
    for (const [n, part] of content.entries()) {
      if (pace) await pace.until(n)
      pace?.ended(n)
      controller.enqueue(part)
    }
    pace?.over()
    controller.enqueue(finish)
    controller.close()
  }
  return {
    specificationVersion: 'v4',
    provider: 'mock',
    modelId: 'mock',
    supportedUrls: {},
    doGenerate: async () => ({ content, finishReason, usage, warnings: [] }),
    doStream: async () => ({ stream: new ReadableStream({ start: (controller) => void send(controller) }) }),
  }
}
