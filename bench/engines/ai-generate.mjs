import { generateText, stepCountIs } from 'ai'
import { aiTools, resultOfPart } from '../engine-parts/ai-tools.mjs'
import { languageModel } from '../models/language-model.mjs'

export const engine = {
  title: 'AI SDK generateText',
  packages: ['ai'],
  scope: 'turn',
  gives: { order: 'calls', isExclusive: false, startsEarly: false, sideBySide: Infinity, validates: true },
  prepare({ tools, calls }) {
    const options = {
      model: languageModel(calls),
      tools: aiTools(tools),
      prompt: 'go',
      stopWhen: stepCountIs(1),
      maxRetries: 0,
    }
    return async () => {
      const answer = await generateText(options)
      const results = []
      for (const part of answer.content) {
        const result = resultOfPart(part)
        if (result !== undefined) results.push(result)
      }
      return { results, executor: answer }
    }
  },
}
