import { type AnyTool, toolError } from 'signalbox'
import type { Shell } from '../shell/shell.ts'

/**
 * If folders cannot be held open, a sandboxed command could replace a file by a link at the right moment and make a
 * tool outside the sandbox follow it. So the tool is rejected while such a command runs.
 */
export function noBackgroundRuns(tool: AnyTool, shell: Shell): AnyTool {
  const call: AnyTool['call'] = (...args) => {
    const [busy] = shell.backgroundCommands
    if (busy === undefined) return tool.call(...args)
    throw toolError(
      `${tool.name} cannot be used safely on this system while a command runs in the background: ${busy}. Use Bash instead, or stop the command with BackgroundStop first.`,
      'BackgroundRun',
    )
  }
  return { ...tool, call }
}
