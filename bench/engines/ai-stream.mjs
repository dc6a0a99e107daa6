import { stepCountIs, streamText, tool } from 'ai'
import { aiTools, resultOfPart } from '../engine-parts/ai-tools.mjs'
import { reportingCall } from '../engine-parts/reporting-tool.mjs'
import { languageModel } from '../models/language-model.mjs'

export const engine = {
  title: 'AI SDK streamText',
  packages: ['ai'],
  scope: 'turn',
  gives: { order: 'completion', isExclusive: false, startsEarly: false, sideBySide: Infinity, validates: true },
  streams: true,
  prepare({ tools, calls, pace, got }) {
    const options = {
      model: languageModel(calls, pace),
      tools: aiTools(tools),
      prompt: 'go',
      stopWhen: stepCountIs(1),
      maxRetries: 0,
    }
    return async () => {
      const answer = streamText(options)
      const results = []
      for await (const part of answer.fullStream) {
        const result = resultOfPart(part)
        if (result === undefined) continue
        results.push(result)
        got?.(result)
      }
      return { results, executor: answer }
    }
  },
  progress({ count, inputSchema }) {
    const tools = { Report: tool({ inputSchema, execute: () => reports(count) }) }
    const options = { model: languageModel([reportingCall]), tools, prompt: 'go', stopWhen: stepCountIs(1) }
    return async (got) => {
      for await (const { type, preliminary, output } of streamText(options).fullStream) {
        if (type === 'tool-result' && preliminary) got(output)
      }
    }
  },
}

async function* reports(count) {
  for (let n = 0; n < count; n++) yield n
}
