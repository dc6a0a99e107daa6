import { Usage } from '@openai/agents-core'

/** A model for OpenAI Agents that requests the calls and ends. */
export function agentsModel(calls, pace) {
  const output = calls.map(({ id, name, input }) => ({
    type: 'function_call',
    id: `fc_${id}`,
    callId: id,
    name,
    status: 'completed',
    arguments: JSON.stringify(input),
  }))
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
  return {
    getResponse: async () => ({ output, usage: new Usage(usage), responseId: 'resp_1' }),
    async *getStreamedResponse() {
      yield { type: 'response_started' }
      for (const [n, item] of output.entries()) {
        if (pace) await pace.until(n)
        pace?.ended(n)
        // the event that the service's own model sends when an item is complete
        yield { type: 'model', event: { type: 'response.output_item.done', output_index: n, item } }
      }
      pace?.over()
      yield { type: 'response_done', response: { id: 'resp_1', output, usage } }
    },
  }
}
