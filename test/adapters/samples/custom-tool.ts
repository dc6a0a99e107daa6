import { createOpenAI } from '@ai-sdk/openai'
import { defineTool } from 'signalbox'
import { aiSdkModel } from 'signalbox/ai-sdk'
import { z } from 'zod'

export const model = aiSdkModel(createOpenAI()('gpt-5.5'), {
  tools: [{ type: 'provider', id: 'openai.custom', name: 'sql', args: { description: 'Runs SQL.' } }],
})

export const sql = defineTool({
  name: 'sql',
  inputSchema: z.object({ input: z.string() }),
  call: async ({ input }) => ({ data: `ran: ${input}` }),
})
