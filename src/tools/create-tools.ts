import { SignalboxError } from '../errors/signalbox-error.ts'
import { nodeProcessRunner } from '../shell/node-process-runner.ts'
import type { Isolation } from '../shell/process-runner.ts'
import { createShell, type ShellOptions } from '../shell/shell.ts'
import type { AnyTool } from '../tool/tool.ts'
import { createReadMemory } from '../workspace/read-memory.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../workspace/workspace.ts'
import { type AgentOptions, agentTool } from './agent.ts'
import { bashTool } from './bash.ts'
import { bashOutputTool, bashStopTool } from './bash-background.ts'
import { editTool } from './edit.ts'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import { type ReadOptions, readTool } from './read.ts'
import { ripgrepFor } from './search/search-desk.ts'
import { createTaskBoard, type TaskBoard, taskTools } from './tasks.ts'
import { type WebFetchOptions, webFetchTool } from './web-fetch.ts'
import { type SearchWeb, webSearchTool } from './web-search.ts'
import { writeTool } from './write.ts'

export interface ToolSetOptions extends WorkspaceOptions {
  /** Limits and surroundings of the shell; false for a set without one. */
  shell?: ShellOptions | false | undefined
  read?: ReadOptions | undefined
  /** False for a set that cannot fetch pages. */
  webFetch?: WebFetchOptions | false | undefined
  /** How the web is searched. Without it WebSearch says that it cannot. */
  searchWeb?: SearchWeb | undefined
  /** The model of the Agent tool, and what it works with. Without it there is no such tool. */
  agent?: AgentOptions | undefined
  /**
   * The path of ripgrep; false to do without it.
   * @default where the PATH of the host has it; without it a slower search of our own
   */
  ripgrep?: string | false | undefined
  /** @default an empty one */
  taskBoard?: TaskBoard | undefined
}

/** A set of tools that belong together: they share a workspace, a shell, and what was read. */
export interface ToolSet {
  readonly tools: readonly AnyTool[]
  readonly workspace: Workspace
  readonly taskBoard: TaskBoard
  /** How the processes of a command are kept together; undefined without a shell, or with a runner of your own. */
  readonly isolation: Isolation | undefined
  /** Ends what still runs in the background. */
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
 * The tools that people need on day one, for one workspace. Call `close` when you are done with them.
 *
 * @example
 * const { tools, close } = createTools({ root: process.cwd() })
 */
export function createTools(options: ToolSetOptions): ToolSet {
  for (const name of Object.keys(options)) {
    if (!names.has(name)) {
      throw new SignalboxError('invalid_option', `createTools has no option ${name}; it has ${[...names].join(', ')}.`)
    }
  }
  const workspace = createWorkspace(options)
  const taskBoard = options.taskBoard ?? createTaskBoard()
  const desk = { workspace, memory: createReadMemory() }
  const shell = options.shell === false ? undefined : createShell(workspace, options.shell)
  const { processRunner } = options.shell || {}
  const search = { workspace, runner: processRunner ?? nodeProcessRunner, ripgrep: ripgrepFor(options.ripgrep) }
  const tools: AnyTool[] = [
    readTool(desk, options.read),
    writeTool(desk),
    editTool(desk),
    globTool(search),
    grepTool(search),
    ...(shell === undefined ? [] : [bashTool(workspace, shell), bashOutputTool(shell), bashStopTool(shell)]),
    ...(options.webFetch === false ? [] : [webFetchTool(options.webFetch)]),
    webSearchTool(options.searchWeb),
    ...taskTools(taskBoard),
  ].map((tool) => tool as AnyTool)
  if (options.agent !== undefined) tools.push(agentTool(options.agent, [...tools]))
  return {
    tools,
    workspace,
    taskBoard,
    get isolation() {
      return shell?.isolation
    },
    close: async () => shell?.close(),
  }
}

/** The set with nothing but its tools, for hosts that run nothing in the background. */
export const defaultTools = (options: ToolSetOptions): readonly AnyTool[] => createTools(options).tools
