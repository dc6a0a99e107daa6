export type { IsolationChoice } from '../shell/isolation.ts'
export type {
  Isolation,
  ProcessExit,
  ProcessListener,
  ProcessRequest,
  ProcessRunner,
  RunningProcess,
} from '../shell/process-runner.ts'
export { isReadOnlyCommand } from '../shell/read-only-command.ts'
export type { WrapCommand } from '../shell/run-command.ts'
export { createShell, type Shell, type ShellOptions } from '../shell/shell.ts'
export { allowsCommand, concernsCommand } from '../shell/shell-rule.ts'
export type { FileFacts, FileSystem, FolderEntry, OpenFile } from '../workspace/file-system.ts'
export { nodeFileSystem } from '../workspace/node-file-system.ts'
export { createReadMemory, type ReadMemory } from '../workspace/read-memory.ts'
export { createWorkspace, type Place, type Workspace, type WorkspaceOptions } from '../workspace/workspace.ts'
export { type AgentOptions, agentTool } from './agent.ts'
export { type BashData, bashTool } from './bash.ts'
export { type BackgroundData, bashOutputTool, bashStopTool } from './bash-background.ts'
export { createTools, defaultTools, type ToolSet, type ToolSetOptions } from './create-tools.ts'
export { type EditData, editTool } from './edit.ts'
export type { FileDesk } from './file-tool.ts'
export { type GlobData, globTool } from './glob.ts'
export { grepTool } from './grep.ts'
export type { GrepData } from './grep-text.ts'
export { type ReadData, type ReadOptions, readTool } from './read.ts'
export type { SearchDesk } from './search/search-desk.ts'
export { createTaskBoard, type Task, type TaskBoard, taskTools } from './tasks.ts'
export { type WebFetchData, type WebFetchOptions, webFetchTool } from './web-fetch.ts'
export { type SearchHit, type SearchWeb, webSearchTool } from './web-search.ts'
export { type WriteData, writeTool } from './write.ts'
