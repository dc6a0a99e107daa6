import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { maxConcurrency } from '../engine-parts/plain-call.mjs'
import { reportingCall } from '../engine-parts/reporting-tool.mjs'
import { languageModel } from '../models/language-model.mjs'

export const engine = {
  title: 'Mastra Agent.stream',
  packages: ['@mastra/core'],
  scope: 'turn',
  gives: { order: 'calls', isExclusive: false, startsEarly: true, sideBySide: maxConcurrency, validates: true },
  streams: true,
  prepare({ tools, calls, pace, got }) {
    const agent = new Agent({
      id: 'bench',
      name: 'bench',
      instructions: 'go',
      model: languageModel(calls, pace),
      tools: Object.fromEntries(
        tools.map(({ name, inputSchema, call }) => [
          name,
          createTool({ id: name, description: name, inputSchema, execute: async (input) => (await call(input)).data }),
        ]),
      ),
    })
    return async () => {
      const answer = await agent.stream('go', { maxSteps: 1 })
      const results = []
      for await (const { type, payload } of answer.fullStream) {
        if (type !== 'tool-result' && type !== 'tool-error') continue
        const result = resultOf(payload)
        results.push(result)
        got?.(result)
      }
      return { results, executor: answer }
    }
  },
  progress({ count, inputSchema }) {
    const execute = async (_input, { writer }) => {
      for (let n = 0; n < count; n++) await writer.write(n)
      return 'done'
    }
    const Report = createTool({ id: 'Report', description: 'Report', inputSchema, execute })
    const model = languageModel([reportingCall])
    const agent = new Agent({ id: 'bench', name: 'bench', instructions: 'go', model, tools: { Report } })
    return async (got) => {
      const answer = await agent.stream('go', { maxSteps: 1 })
      for await (const { type, payload } of answer.fullStream) if (type === 'tool-output') got(payload.output)
    }
  },
}

const resultOf = ({ toolCallId, result, error }) => ({
  type: 'tool_result',
  tool_use_id: toolCallId,
  content: result ?? String(error),
  is_error: typeof result !== 'string',
})
