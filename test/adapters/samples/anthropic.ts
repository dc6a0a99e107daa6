import Anthropic from '@anthropic-ai/sdk'
import { anthropicModel } from 'signalbox/anthropic'

export const model = anthropicModel(new Anthropic({ maxRetries: 0 }), {
  model: 'claude-opus-5-5',
  max_tokens: 8_192,
  thinking: { type: 'adaptive' },
  tools: [{ type: 'web_search_20250305', name: 'web_search' }], // runs at the service
})
