export {
  connectMcp,
  type Mcp,
  type McpEvents,
  type McpOptions,
  type McpServerStatus,
  type McpWarning,
} from './connect-mcp.ts'
export type { McpConnection, McpState } from './mcp-state.ts'
export type { McpResultData } from './mcp-tool.ts'
export { parseMcpConfig, readMcpConfig } from './read-mcp-config.ts'
export type { HttpOptions } from './serve/serve-http.ts'
export { type ServedMcp, type ServeMcpOptions, serveMcp } from './serve/serve-mcp.ts'
export type { HttpServer, McpServerConfig, McpToolOverride, StdioServer } from './server-config.ts'
