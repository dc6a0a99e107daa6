import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { anthropicClient, anthropicOptions } from '../models/anthropic-client.mjs'

/** An engine of Anthropic's tool runner: one request, and the results of its calls. */
export const runnerEngine = ({ title, stream, runToolsEagerly }) => ({
  title,
  packages: ['@anthropic-ai/sdk'],
  scope: 'turn',
  gives: { order: 'calls', isExclusive: false, startsEarly: runToolsEagerly, sideBySide: Infinity, validates: true },
  streams: true,
  prepare({ tools, calls, pace, got }) {
    const client = anthropicClient(calls, pace)
    const runnable = tools.map(({ name, inputSchema, call }) =>
      betaZodTool({ name, description: name, inputSchema, run: async (input) => (await call(input)).data }),
    )
    const request = {
      ...anthropicOptions,
      messages: [{ role: 'user', content: 'go' }],
      tools: runnable,
      max_iterations: 1,
      // eager running needs a stream, and so does a paced reply
      ...((stream || pace !== undefined) && { stream: true, runToolsEagerly }),
    }
    return async () => {
      const runner = client.beta.messages.toolRunner(request)
      const results = []
      for await (const reply of runner) {
        await reply.finalMessage?.()
        const { content } = await runner.generateToolResponse()
        for (const block of content) {
          results.push(block)
          got?.(block)
        }
      }
      return { results, executor: runner }
    }
  },
})
