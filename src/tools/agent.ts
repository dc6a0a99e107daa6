import { type SubAgentOptions, subAgent } from '../sub-agent/sub-agent.ts'
import type { AnyTool } from '../tool/tool.ts'

export interface AgentOptions extends Omit<SubAgentOptions, 'tools' | 'isConcurrencySafe'> {
  /** @default all tools of the set but this one, so that agents do not start agents */
  tools?: readonly AnyTool[] | undefined
}

const maxTurns = 50

/** An agent of its own for a task: a query inside a call, with its own tools and limits. */
export function agentTool({ tools, ...options }: AgentOptions, others: readonly AnyTool[]): AnyTool {
  return subAgent({ maxTurns, ...options, tools: tools ?? others }) as AnyTool
}
