import { openai } from '@ai-sdk/openai'
import { aiSdkModel } from 'signalbox/ai-sdk'

export const model = aiSdkModel(openai('gpt-5.5'), { maxOutputTokens: 8_192 })
