import {
  allowAllTools,
  createAssistantMessage,
  createToolUseContext,
  StreamingToolExecutor,
} from '../../dist/src/index.js'

const assistantMessage = createAssistantMessage([])

export async function runTurn(calls, tools, watch = () => {}) {
  const executor = new StreamingToolExecutor(tools, allowAllTools, createToolUseContext())
  watch(executor)
  for (const block of calls) executor.addTool(block, assistantMessage)
  const results = []
  for await (const { message } of executor.getRemainingResults()) results.push(message.message.content[0])
  return { results, executor }
}

export default {
  name: 'signalbox',
  keepsRules: true,
  turn: (calls, tools) => runTurn(calls, tools),
}
