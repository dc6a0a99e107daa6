export { type AgentCall, type SubAgentOptions, type SubAgentReport, subAgent } from './sub-agent.ts'
