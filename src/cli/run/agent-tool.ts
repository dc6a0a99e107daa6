import type { AnyTool, CanUseTool, Model, QueryMessage } from '../../index.ts'
import { type SubAgentOptions, subAgent } from '../../sub-agent/index.ts'
import { describeCall } from '../../tool/describe-call.ts'

export interface AgentToolOptions {
  readonly model: Model
  readonly maxTurns: number
  readonly system?: string | undefined
  /** What it works with, looked at again before each of its turns. */
  readonly tools: () => readonly AnyTool[]
  /** Who is asked where a call of such an agent needs permission. */
  readonly canUseTool: (agent: string) => CanUseTool
  readonly onQuery?: SubAgentOptions['onQuery']
}

/** How far an agent is: what is shown of it while it works. */
export interface AgentProgress {
  readonly type: 'agent_progress'
  readonly turns: number
  readonly calls: number
  /** What it asked for last, such as `Read(a.ts)`. */
  readonly newest: string | undefined
}

const description =
  'Gives a task to an agent of its own, with the same tools but this one, and returns its report. For work whose details need not stand in this conversation: a search through many files, a change that is clear. It sees nothing but the prompt, so say all of it there.'

/** The Agent of `run`: a query inside a call. It needs no permission of its own, since each of its calls does. */
export function agentTool({ tools, canUseTool, ...options }: AgentToolOptions): AnyTool {
  const agent = subAgent({ ...options, description, tools: () => [...tools()] })
  return {
    ...(agent as AnyTool),
    checkPermissions: () => ({ behavior: 'allow' }),
    call(input, context, _ask, message, onProgress) {
      const { toolUseID } = context
      const told = progressOf(tools, (data) => onProgress({ toolUseID, data }))
      const tell = ({ data }: { data: unknown }): void => told(data as QueryMessage)
      return (agent as AnyTool).call(input, context, canUseTool(toolUseID), message, tell)
    },
  }
}

/** Of all that an agent says and does, one line is shown; its words and results are its own. */
function progressOf(
  tools: () => readonly AnyTool[],
  tell: (progress: AgentProgress) => void,
): (message: QueryMessage) => void {
  let [turns, calls] = [0, 0]
  let newest: string | undefined
  return (message) => {
    if (message.type === 'system' && message.subtype === 'model_reply') turns++
    else if (message.type === 'assistant') {
      const asked = message.message.content.filter(({ type }) => type === 'tool_use')
      if (asked.length === 0) return
      calls += asked.length
      const { name, input } = asked.at(-1) as { name?: unknown; input?: unknown }
      const tool = tools().find((each) => each.name === name)
      newest = describeCall(tool, String(name), input)
    } else return
    tell({ type: 'agent_progress', turns, calls, newest })
  }
}
