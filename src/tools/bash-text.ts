import type { BashData } from './bash.ts'

/** What a model reads of a run. */
export function bashText(data: BashData): string {
  if (data.type === 'background') {
    return `It runs in the background as ${data.id}. BashOutput shows what it prints, BashStop ends it.`
  }
  const { output, endedBy, exitCode, signal, nextCwd, wasBroughtBack } = data
  const lines = [output.trimEnd() || '(no output)']
  if (endedBy === 'timeout') {
    lines.push(
      '[It took too long and was ended, with all it had started. Give a longer timeout, or run it in the background.]',
    )
  } else if (endedBy === 'outputLimit') {
    lines.push(
      `[It printed more than ${data.outputBytes} bytes and was ended. Send the output to a file, or print less.]`,
    )
  } else if (endedBy === 'abort') lines.push('[It was stopped.]')
  else if (exitCode !== 0) lines.push(exitCode === undefined ? `[Ended by ${signal}]` : `[Exit code ${exitCode}]`)
  if (wasBroughtBack) lines.push(`[The shell had left the workspace. The working directory is ${nextCwd} again.]`)
  return lines.join('\n')
}
