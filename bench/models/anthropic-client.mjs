import Anthropic from '@anthropic-ai/sdk'
import { messagesApi } from './messages-api.mjs'

export const anthropicOptions = { model: 'mock', max_tokens: 1_000 }

/** The SDK's client without the network. */
export const anthropicClient = (calls, pace) =>
  new Anthropic({ apiKey: 'none', baseURL: 'http://127.0.0.1:9', maxRetries: 0, fetch: messagesApi(calls, pace) })
