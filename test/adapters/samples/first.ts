import Anthropic from '@anthropic-ai/sdk'
import { query } from 'signalbox'
import { anthropicModel } from 'signalbox/anthropic'

const model = anthropicModel(new Anthropic({ maxRetries: 0 }), { model: 'claude-opus-5-5', max_tokens: 8_192 })
const run = query({ messages: 'Which train goes to Rome?', tools: [], model })
for await (const message of run) if (message.type === 'assistant') console.log(message.message.content)
