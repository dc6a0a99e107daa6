export { anthropicEvents } from './anthropic-events.ts'
export { type AnthropicClient, type AnthropicModelOptions, anthropicModel } from './anthropic-model.ts'
