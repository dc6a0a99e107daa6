import OpenAI from 'openai'
import { openaiResponsesModel } from 'signalbox/openai'

export const model = openaiResponsesModel(new OpenAI({ maxRetries: 0 }), {
  model: 'gpt-5.5',
  store: false, // the transcript is yours
  include: ['reasoning.encrypted_content'], // so that reasoning can be sent back
})
