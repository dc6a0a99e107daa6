import type { BashData } from './bash.ts'

/** The text that the model gets for a run. */
export function bashText(data: BashData): string {
  const { output, endedBy, exitCode, signal, nextCwd, wasBroughtBack } = data
  const lines = [output.trimEnd() || '(no output)']
  if (endedBy === 'timeout') {
    lines.push(
      '[The command timed out and was stopped, with every process it started. Set a longer timeout, or set run_in_background.]',
    )
  } else if (endedBy === 'outputLimit') {
    lines.push(
      `[The command printed more than ${data.outputBytes} bytes and was stopped. Redirect the output to a file, or print less.]`,
    )
  } else if (endedBy === 'abort') lines.push('[The command was stopped.]')
  else if (exitCode !== 0) lines.push(exitCode === undefined ? `[Killed by ${signal}]` : `[Exit code ${exitCode}]`)
  if (wasBroughtBack) lines.push(`[The command left the workspace. The working directory was reset to ${nextCwd}.]`)
  return lines.join('\n')
}
