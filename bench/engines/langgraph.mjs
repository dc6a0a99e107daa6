import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'

export const engine = {
  title: 'LangGraph ToolNode',
  packages: ['@langchain/langgraph', '@langchain/core'],
  scope: 'tools',
  gives: { order: 'calls', isExclusive: false, startsEarly: false, sideBySide: Infinity, validates: true },
  streams: true,
  prepare({ tools, calls, pace, got }) {
    const node = new ToolNode(
      tools.map(({ name, inputSchema, call }) =>
        tool(async (input) => (await call(input)).data, { name, description: name, schema: inputSchema }),
      ),
    )
    const tool_calls = calls.map(({ id, name, input }) => ({ type: 'tool_call', id, name, args: input }))
    const messages = [new AIMessage({ content: '', tool_calls })]
    return async () => {
      // it accepts only whole messages
      if (pace) await wholeMessage(calls, pace)
      const answer = await node.invoke({ messages })
      const results = answer.messages.map(({ tool_call_id, content, status }) => ({
        type: 'tool_result',
        tool_use_id: tool_call_id,
        content,
        is_error: status === 'error',
      }))
      for (const result of results) got?.(result)
      return { results, executor: node }
    }
  },
  /** A node forwards reports only as part of a graph. */
  progress({ count, inputSchema }) {
    const report = (_input, { writer }) => {
      for (let n = 0; n < count; n++) writer(n)
      return 'done'
    }
    const node = new ToolNode([tool(report, { name: 'Report', description: 'Report', schema: inputSchema })])
    const graph = new StateGraph(MessagesAnnotation).addNode('tools', node).addEdge(START, 'tools').compile()
    const tool_calls = [{ type: 'tool_call', id: 'toolu_0', name: 'Report', args: {} }]
    const messages = [new AIMessage({ content: '', tool_calls })]
    return async (got) => {
      for await (const data of await graph.stream({ messages }, { streamMode: 'custom' })) got(data)
    }
  },
}

async function wholeMessage(calls, pace) {
  for (const n of calls.keys()) {
    await pace.until(n)
    pace.ended(n)
  }
  pace.over()
}
