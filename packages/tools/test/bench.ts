import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  type AnyTool,
  allowAllTools,
  type CanUseTool,
  createAssistantMessage,
  type ProgressMessage,
  StreamingToolExecutor,
  type ToolResultBlock,
  type ToolUseContext,
} from '../../../src/index.ts'

/** A temporary folder for one test. */
export function scratch(files: Record<string, string> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-tools-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) put(join(folder, name), text)
  return folder
}

export function put(path: string, text: string | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

export interface Ran {
  readonly content: ToolResultBlock['content']
  readonly text: string
  readonly isError: boolean
  readonly data: unknown
  readonly progress: readonly ProgressMessage[]
}

export interface RunSettings {
  canUseTool?: CanUseTool
  context?: Partial<ToolUseContext>
}

let count = 0

/** Runs one call through a real executor and returns its result for the model. */
export async function runTool(
  tools: readonly AnyTool[],
  name: string,
  input: unknown,
  { canUseTool = allowAllTools, context = {} }: RunSettings = {},
): Promise<Ran> {
  const executor = new StreamingToolExecutor(tools, canUseTool, context)
  executor.addTool({ type: 'tool_use', id: `toolu_${count++}`, name, input }, createAssistantMessage([]))
  const progress: ProgressMessage[] = []
  let ran: Ran | undefined
  for await (const { message } of executor.getRemainingResults()) {
    if (message.type === 'progress') progress.push(message)
    if (message.type !== 'user') continue
    const block = message.message.content[0] as ToolResultBlock
    const text = typeof block.content === 'string' ? block.content : JSON.stringify(block.content)
    ran = { content: block.content, text, isError: block.is_error === true, data: message.toolUseResult, progress }
  }
  if (ran === undefined) throw new Error('there was no result')
  return ran
}
