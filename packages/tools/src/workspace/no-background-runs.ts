import { type AnyTool, toolError } from 'signalbox'
import type { Shell } from '../shell/shell.ts'

/**
 * If folders cannot be held open, a sandboxed command could replace a file by a link at the right moment and make a
 * tool outside the sandbox follow it. So the tool is rejected while such a command runs.
 */
export function noBackgroundRuns(tool: AnyTool, shell: Shell): AnyTool {
  const call: AnyTool['call'] = (...args) => {
    const busy = shell.backgroundIds().filter((id) => shell.background(id)?.outcome === undefined)
    if (busy.length === 0) return tool.call(...args)
    throw toolError(
      `${tool.name} cannot be used safely on this system while ${busy.join(', ')} runs in the background. Use Bash instead, or stop the run with BashStop first.`,
      'BackgroundRun',
    )
  }
  return { ...tool, call }
}
