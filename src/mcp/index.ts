export {
  connectMcp,
  type Mcp,
  type McpEvents,
  type McpOptions,
  type McpServerStatus,
  type McpWarning,
} from './connect-mcp.ts'
export type { McpResultData } from './mcp-tool.ts'
export type { HttpServer, McpServerConfig, McpToolOverride, StdioServer } from './server-config.ts'
export type { McpState } from './server-link.ts'
