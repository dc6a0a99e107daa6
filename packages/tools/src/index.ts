export type {
  Isolation,
  IsolationChoice,
  ProcessExit,
  ProcessListener,
  ProcessRequest,
  ProcessRunner,
  RunningProcess,
  WrapCommand,
} from 'signalbox/node'
export { type AgentOptions, agentTool } from './agent.ts'
export { backgroundTools } from './background.ts'
export { type BashData, bashTool } from './bash.ts'
export { createTools, defaultTools, openTools, type ToolSet, type ToolSetOptions } from './create-tools.ts'
export { type EditData, editTool } from './edit.ts'
export type { FileToolDeps } from './file-tool.ts'
export { type GlobData, globTool } from './glob.ts'
export { grepTool } from './grep.ts'
export type { GrepData } from './grep-text.ts'
export { lineDiff } from './line-diff.ts'
export { type ReadData, type ReadOptions, readTool } from './read.ts'
export type { SearchService } from './search/search-service.ts'
export { concernsCommand } from './shell/deny-rule.ts'
export { exactShellRule } from './shell/exact-rule.ts'
export { createShell, type Shell, type ShellOptions } from './shell/shell.ts'
export { allowsCommand, isReadOnlyCommand } from './shell/shell-rule.ts'
export { createTaskBoard, type Task, type TaskBoard, taskTools } from './tasks.ts'
export { type WebFetchData, type WebFetchOptions, webFetchTool } from './web-fetch.ts'
export { type SearchHit, type SearchWeb, webSearchTool } from './web-search.ts'
export type { FileFacts, FileSystem, FolderEntry, OpenFile, OpenFolder } from './workspace/file-system.ts'
export { nodeFileSystem } from './workspace/node-file-system.ts'
export { literalPath } from './workspace/path-rule.ts'
export { createReadMemory, type ReadMemory } from './workspace/read-memory.ts'
export {
  createWorkspace,
  openWorkspace,
  type Place,
  type Workspace,
  type WorkspaceOptions,
} from './workspace/workspace.ts'
export { type WriteData, writeTool } from './write.ts'
