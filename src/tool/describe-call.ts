import { answerAtOnce } from '../base/when-settled.ts'
import type { AnyTool } from './tool.ts'

const maxSummary = 40

/** A call as shown to people: `Bash(npm test)`, or only the name if there is no summary. */
export function describeCall(tool: AnyTool | undefined, name: string, input: unknown): string {
  const summary = summaryOf(tool, input)
  return summary === '' ? name : `${name}(${summary})`
}

function summaryOf(tool: AnyTool | undefined, input: unknown): string {
  try {
    const own = answerAtOnce(tool?.describe?.(input as Record<string, unknown>))
    return cut(typeof own === 'string' ? own : firstText(input))
  } catch {
    return ''
  }
}

function firstText(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  const { command, file_path, pattern } = input as Record<string, unknown>
  const found = [command, file_path, pattern].find((value) => typeof value === 'string' && value !== '')
  return typeof found === 'string' ? found : ''
}

function cut(text: string): string {
  const line = text.slice(0, 4 * maxSummary)
  const characters = Array.from(line)
  return characters.length > maxSummary ? `${characters.slice(0, maxSummary).join('')}…` : line
}
