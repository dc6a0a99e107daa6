export { type SubAgentOptions, type SubAgentReport, subAgent } from './sub-agent.ts'
