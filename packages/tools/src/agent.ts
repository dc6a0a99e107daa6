import type { AnyTool } from 'signalbox'
import { type SubAgentOptions, subAgent } from 'signalbox/sub-agent'

export interface AgentOptions extends Omit<SubAgentOptions, 'tools' | 'isConcurrencySafe'> {
  /** @default every tool of the set except this one, so that agents do not start agents */
  tools?: readonly AnyTool[] | undefined
}

const maxTurns = 50

/** Runs a sub-agent for a task: a query inside a call, with its own tools and limits. */
export function agentTool({ tools, ...options }: AgentOptions, others: readonly AnyTool[]): AnyTool {
  return subAgent({ maxTurns, ...options, tools: tools ?? others }) as AnyTool
}
