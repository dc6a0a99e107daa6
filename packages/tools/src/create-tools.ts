import { type AnyTool, SignalboxError } from 'signalbox'
import { type Isolation, nodeProcessRunner } from 'signalbox/node'
import { type AgentOptions, agentTool } from './agent.ts'
import { backgroundTools } from './background.ts'
import { bashTool } from './bash.ts'
import { editTool } from './edit.ts'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import { type ReadOptions, readTool } from './read.ts'
import { ripgrepFor } from './search/search-service.ts'
import { createShell, type ShellOptions } from './shell/shell.ts'
import { createTaskBoard, type TaskBoard, taskTools } from './tasks.ts'
import { type WebFetchOptions, webFetchTool } from './web-fetch.ts'
import { type SearchWeb, webSearchTool } from './web-search.ts'
import { noBackgroundRuns } from './workspace/no-background-runs.ts'
import { sweepPendingWrites } from './workspace/pending-writes.ts'
import { createReadMemory } from './workspace/read-memory.ts'
import { createWorkspace, openWorkspace, type Workspace, type WorkspaceOptions } from './workspace/workspace.ts'
import { writeTool } from './write.ts'

export interface ToolSetOptions extends WorkspaceOptions {
  /** Limits and environment of the shell; false for a set without a shell. */
  shell?: ShellOptions | false | undefined
  read?: ReadOptions | undefined
  /** False for a set without WebFetch. */
  webFetch?: WebFetchOptions | false | undefined
  /** How the web is searched. Without it, WebSearch fails with an explanation. */
  searchWeb?: SearchWeb | undefined
  /** The model of the Agent tool and its options. Without it, the set has no Agent tool. */
  agent?: AgentOptions | undefined
  /**
   * The path of ripgrep; false to search without it.
   * @default ripgrep from the host's PATH; if it is not installed, a slower built-in search
   */
  ripgrep?: string | false | undefined
  /** @default an empty board */
  taskBoard?: TaskBoard | undefined
}

/** A set of tools that share a workspace, a shell, and the record of files that were read. */
export interface ToolSet {
  readonly tools: readonly AnyTool[]
  readonly workspace: Workspace
  readonly taskBoard: TaskBoard
  /** How the processes of a command are isolated; undefined without a shell, or with your own runner. */
  readonly isolation: Isolation | undefined
  /** Stops every command that still runs. */
  close(): Promise<void>
}

const names = new Set<string>([
  'root',
  'moreRoots',
  'fileSystem',
  'shell',
  'read',
  'webFetch',
  'searchWeb',
  'agent',
  'ripgrep',
  'taskBoard',
] satisfies (keyof ToolSetOptions)[])

/**
 * The standard tools for one workspace. Call `close` when you are done with them.
 *
 * @example
 * const { tools, close } = createTools({ root: process.cwd() })
 */
export function createTools(options: ToolSetOptions): ToolSet {
  checkNames(options)
  return toolSet(options, createWorkspace(options))
}

/** Like createTools, for any file system, also one without `realpathSync` (such as a remote one). */
export async function openTools(options: ToolSetOptions): Promise<ToolSet> {
  checkNames(options)
  return toolSet(options, await openWorkspace(options))
}

function checkNames(options: ToolSetOptions): void {
  for (const name of Object.keys(options)) {
    if (!names.has(name)) {
      throw new SignalboxError(
        'invalid_option',
        `Unknown option ${name} for createTools. Known options: ${[...names].join(', ')}.`,
      )
    }
  }
}

function toolSet(options: ToolSetOptions, workspace: Workspace): ToolSet {
  const swept = sweepPendingWrites(workspace)
  const taskBoard = options.taskBoard ?? createTaskBoard()
  const deps = { workspace, memory: createReadMemory() }
  const shell = options.shell === false ? undefined : createShell(workspace, options.shell)
  const { processRunner } = options.shell || {}
  const search = { workspace, runner: processRunner ?? nodeProcessRunner, ripgrep: ripgrepFor(options.ripgrep) }
  const canBeRaced = workspace.fileSystem.openFolder === undefined && options.shell && options.shell.wrapCommand
  const guarded = (tool: AnyTool): AnyTool => (canBeRaced && shell ? noBackgroundRuns(tool, shell) : tool)
  const fileTools = [readTool(deps, options.read), writeTool(deps), editTool(deps), globTool(search), grepTool(search)]
  const tools: AnyTool[] = [
    ...fileTools.map((tool) => guarded(tool as AnyTool)),
    ...(shell === undefined ? [] : [bashTool(workspace, shell)]),
    ...(options.webFetch === false ? [] : [webFetchTool(options.webFetch)]),
    webSearchTool(options.searchWeb),
    ...taskTools(taskBoard),
    ...backgroundTools(),
  ].map((tool) => tool as AnyTool)
  if (options.agent !== undefined) tools.push(agentTool(options.agent, [...tools]))
  return {
    tools,
    workspace,
    taskBoard,
    get isolation() {
      return shell?.isolation
    },
    async close() {
      await swept
      await shell?.close()
    },
  }
}

/** Only the tools of a set, for hosts that run nothing in the background. */
export const defaultTools = (options: ToolSetOptions): readonly AnyTool[] => createTools(options).tools
