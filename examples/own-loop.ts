import Anthropic from '@anthropic-ai/sdk'
import {
  createAssistantMessage,
  createUserMessage,
  defineTool,
  type Message,
  StreamingToolExecutor,
  toApiMessages,
  toolSchemas,
} from 'signalbox'
import { z } from 'zod'

const weather = defineTool({
  name: 'Weather',
  description: 'The weather in a place, now.',
  inputSchema: z.object({ place: z.string() }),
  isConcurrencySafe: () => true,
  call: async ({ place }) => ({ data: `Sunny in ${place}.` }),
})
const tools = [weather]
const client = new Anthropic()
const transcript: Message[] = [createUserMessage('How is the weather in Oslo and in Rome?')]

for (let isFinished = false; !isFinished; ) {
  const executor = new StreamingToolExecutor(tools, () => ({ behavior: 'allow' }))
  const reply = createAssistantMessage([])
  const stream = client.messages.stream({
    model: 'claude-opus-5-5',
    max_tokens: 1_024,
    tools: toolSchemas(tools),
    messages: toApiMessages(transcript),
  })
  // each block is reported when it ends, so its call runs while the model writes the next one
  stream.on('contentBlock', (block) => {
    if (block.type === 'text') console.log(block.text)
    reply.message.content.push(block.type === 'tool_use' ? executor.addTool(block, reply) : { ...block })
  })
  const { stop_reason } = await stream.finalMessage()
  transcript.push(reply)
  for await (const { message } of executor.getRemainingResults()) transcript.push(message)
  isFinished = stop_reason !== 'tool_use'
}
