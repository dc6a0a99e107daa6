import { plural } from './amounts.ts'
import type { CallView } from './call-view.ts'
import { cleanText } from './clean-text.ts'
import type { Colors } from './colors.ts'
import { leftOut, resultText, textField } from './plain-text.ts'

const maxLines = { diff: 24, error: 8, result: 5 } as const

/** The lines below a finished call: a diff for an edit, else the result, truncated if long. */
export function resultBody(call: CallView, colors: Colors): string[] {
  const { result, name, ending } = call
  if (result === undefined || ending?.by === 'abort') return []
  const text = resultText(result.content).replace(/<\/?tool_use_error>/g, '')
  if (result.isError) return shortened(linesOf(text), maxLines.error, leftOut(result.content))
  const diff = diffOf(call, text)
  if (diff !== undefined) return shortened(diff, maxLines.diff).map((line) => paintDiff(line, colors))
  if (name === 'Read') return []
  return shortened(linesOf(text), maxLines.result, leftOut(result.content)).map(colors.dim)
}

function diffOf({ name, input }: CallView, text: string): string[] | undefined {
  if (name === 'Edit') {
    const start = text.indexOf('\n@@ ')
    return start < 0 ? undefined : linesOf(text.slice(start + 1))
  }
  const content = name === 'Write' ? textField(input, 'content') : undefined
  return content === undefined ? undefined : added(content)
}

const added = (content: string): string[] => linesOf(content).map((line) => `+${line}`)

const linesOf = (text: string): string[] => {
  const clean = cleanText(text).trimEnd()
  return clean === '' ? [] : clean.split('\n')
}

/** The beginning, the end, and the number of lines between. Only the beginning if the end is unknown. */
function shortened(lines: readonly string[], most: number, charactersMissing = 0): string[] {
  if (charactersMissing > 0) {
    const shown = lines.slice(0, most)
    const missing = plural(lines.slice(most).join('\n').length + charactersMissing, 'more character')
    return [...shown, `… ${missing}`]
  }
  if (lines.length <= most + 1) return [...lines]
  const end = Math.floor(most / 2)
  return [...lines.slice(0, most - end), `… ${plural(lines.length - most, 'more line')}`, ...lines.slice(-end)]
}

function paintDiff(line: string, colors: Colors): string {
  if (line.startsWith('+')) return colors.green(line)
  if (line.startsWith('-')) return colors.red(line)
  return line.startsWith('@@') ? colors.cyan(line) : colors.dim(line)
}
