import OpenAI from 'openai'
import { openaiChatModel } from 'signalbox/openai'

const client = new OpenAI({ baseURL: 'http://localhost:11434/v1', apiKey: 'none', maxRetries: 0 })

export const model = openaiChatModel(client, { model: 'qwen3', temperature: 0 })
