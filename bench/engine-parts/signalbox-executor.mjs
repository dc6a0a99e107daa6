import {
  allowAllTools,
  createAssistantMessage,
  createToolUseContext,
  StreamingToolExecutor,
} from '../../dist/src/index.js'
import { maxConcurrency } from './plain-call.mjs'
import { reportingCall, reportingTool } from './reporting-tool.mjs'

const assistantMessage = createAssistantMessage([])

/** An engine of the executor alone: from calls to results. */
export function executorEngine({ title, context, canUseTool = allowAllTools, watch }) {
  return {
    title,
    packages: ['signalbox'],
    scope: 'tools',
    gives: { order: 'calls', isExclusive: true, startsEarly: true, sideBySide: maxConcurrency, validates: true },
    prepare({ tools, calls }) {
      return async () => {
        const executor = new StreamingToolExecutor(tools, canUseTool, createToolUseContext(context))
        const leave = watch?.(executor)
        for (const block of calls) executor.addTool(block, assistantMessage)
        const results = []
        for await (const { message } of executor.getRemainingResults()) {
          if (message.type === 'user') results.push(message.message.content[0])
        }
        leave?.()
        return { results, executor }
      }
    },
    progress(task) {
      const tools = [reportingTool(task)]
      return async (got) => {
        const executor = new StreamingToolExecutor(tools, canUseTool, createToolUseContext(context))
        executor.addTool(reportingCall, assistantMessage)
        for await (const { message } of executor.getRemainingResults())
          if (message.type === 'progress') got(message.data)
      }
    },
  }
}
