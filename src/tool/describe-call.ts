import { answerAtOnce } from '../base/when-settled.ts'
import type { AnyTool } from './tool.ts'

const maxSummary = 40
const maxLong = 100
/** More is not even read. */
const maxWhole = 4_000

/** A call as shown to people: `Bash(npm test)`, or only the name if there is no summary. */
export const describeCall = (tool: AnyTool | undefined, name: string, input: unknown): string =>
  shortLabel(name, describeWhole(tool, name, input))

/** The same with the whole summary. */
export function describeWhole(tool: AnyTool | undefined, name: string, input: unknown): string {
  const summary = summaryOf(tool, input)
  return summary === '' ? name : `${name}(${summary})`
}

function summaryOf(tool: AnyTool | undefined, input: unknown): string {
  try {
    const own = answerAtOnce(tool?.describe?.(input as Record<string, unknown>))
    const text = typeof own === 'string' ? own : firstText(input)
    return text.length > maxWhole ? `${text.slice(0, maxWhole)}…` : text
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

/** A whole description, cut to a few words. */
export const shortLabel = (name: string, whole: string): string =>
  withSummary(name, whole, (text) => cut(text, maxSummary))

/** A whole description, cut where it would fill a page. A path keeps its end, because paths differ there. */
export const longLabel = (name: string, whole: string, limit = maxLong): string =>
  withSummary(name, whole, (text) => {
    const most = Math.min(limit, maxLong)
    const isPath = text.includes('/') && !/[\s…]/.test(text)
    if (text.length <= most || !isPath) return cut(text, most)
    const end = Math.floor(most * 0.6)
    return `${cut(text, most - end)}${endOf(text, end)}`
  })

function withSummary(name: string, whole: string, shorten: (text: string) => string): string {
  const hasName = whole.startsWith(`${name}(`) && whole.endsWith(')')
  return hasName ? `${name}(${shorten(whole.slice(name.length + 1, -1))})` : shorten(whole)
}

function endOf(text: string, most: number): string {
  const characters = Array.from(text.slice(Math.max(0, text.length - 2 * most)))
  return characters.slice(Math.max(0, characters.length - most)).join('')
}

function cut(text: string, most: number): string {
  const line = text.slice(0, 4 * most)
  const characters = Array.from(line)
  return characters.length > most ? `${characters.slice(0, most).join('')}…` : line
}
