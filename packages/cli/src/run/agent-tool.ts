import { type AnyTool, type CanUseTool, describeCall, type Model, type QueryMessage } from 'signalbox'
import { type SubAgentOptions, subAgent } from 'signalbox/sub-agent'

export interface AgentToolOptions {
  readonly model: Model
  readonly maxTurns: number
  readonly system?: string | undefined
  /** The agent's tools, read again before each of its turns. */
  readonly tools: () => readonly AnyTool[]
  /** Asked for permission for the agent's calls. */
  readonly canUseTool: (agent: string) => CanUseTool
  readonly onQuery?: SubAgentOptions['onQuery']
}

/** The progress of an agent, shown while it works. */
interface AgentProgress {
  readonly type: 'agent_progress'
  readonly turns: number
  readonly calls: number
  /** Its latest call, such as `Read(a.ts)`. */
  readonly newest: string | undefined
}

const description =
  'Starts a sub-agent for a task and returns its report. The agent has the same tools except this one. Use it for work whose details do not belong in this conversation, such as a search through many files or a well-defined change. The agent sees only the prompt, so include everything it needs.'

/** The Agent tool of `run`: a query inside a call. It needs no permission itself, since each of its calls does. */
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

/** An agent is shown as one line; its texts and results stay inside. */
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
