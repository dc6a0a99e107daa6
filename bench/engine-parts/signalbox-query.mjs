import { allowAllTools, query } from '../../dist/src/index.js'
import { maxConcurrency } from './plain-call.mjs'
import { reportingCall, reportingTool } from './reporting-tool.mjs'

/** An engine of a whole query: one reply of a model and the results of its calls. */
export const queryEngine = ({ title, packages, createModel, toolExecution = 'streaming' }) => ({
  title,
  packages: ['signalbox', ...packages],
  scope: 'turn',
  gives: {
    order: 'calls',
    isExclusive: true,
    startsEarly: toolExecution === 'streaming',
    sideBySide: maxConcurrency,
    validates: true,
  },
  streams: true,
  prepare({ tools, calls, pace, got }) {
    const model = createModel(calls, pace)
    return async () => {
      const results = []
      const run = query({ messages: 'go', tools, model, canUseTool: allowAllTools, maxTurns: 1, toolExecution })
      for await (const message of run) {
        if (message.type !== 'user') continue
        const [block] = message.message.content
        results.push(block)
        got?.(block)
      }
      return { results, executor: run }
    }
  },
  progress(task) {
    const tools = [reportingTool(task)]
    const model = createModel([reportingCall])
    return async (got) => {
      const run = query({ messages: 'go', tools, model, canUseTool: allowAllTools, maxTurns: 1 })
      for await (const message of run) if (message.type === 'progress') got(message.data)
    }
  },
})
