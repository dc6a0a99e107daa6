import { Agent, Runner, tool } from '@openai/agents-core'
import { agentsModel } from '../models/agents-model.mjs'

export const engine = {
  title: 'OpenAI Agents Runner',
  packages: ['@openai/agents-core'],
  scope: 'turn',
  gives: { order: 'calls', isExclusive: false, startsEarly: false, sideBySide: Infinity, validates: true },
  streams: true,
  prepare({ tools, calls, pace, got }) {
    const agent = new Agent({
      name: 'bench',
      model: agentsModel(calls, pace),
      tools: tools.map(({ name, inputSchema, call }) =>
        tool({ name, description: name, parameters: inputSchema, execute: async (input) => (await call(input)).data }),
      ),
      toolUseBehavior: 'stop_on_first_tool',
    })
    const runner = new Runner({ tracingDisabled: true })
    return async () => {
      const run = pace ? await runner.run(agent, 'go', { stream: true }) : await runner.run(agent, 'go')
      if (pace) await follow(run, got)
      return { results: run.newItems.filter(isOutput).map(resultOf), executor: run }
    }
  },
}

async function follow(run, got) {
  for await (const event of run)
    if (event.type === 'run_item_stream_event' && isOutput(event.item)) got?.(resultOf(event.item))
  await run.completed
}

const isOutput = (item) => item.type === 'tool_call_output_item'

/** A failed tool returns an error text; there is no flag. */
const resultOf = ({ rawItem: { callId }, output }) => ({
  type: 'tool_result',
  tool_use_id: callId,
  content: output,
  is_error: output.startsWith('An error occurred'),
})
