import { plural } from './amounts.ts'
import type { Canvas } from './call-lines.ts'
import { cleanText } from './clean-text.ts'
import { wrap } from './fit.ts'
import type { SaidView } from './session-view.ts'

const marks: Readonly<Record<SaidView['by'], string>> = {
  user: '> ',
  model: '',
  thought: '~ ',
  host: '· ',
  warning: '! ',
}

const maxPromptLines = 8

/** A long piped prompt is truncated. */
function shortened(prompt: string): string {
  const lines = prompt.split('\n')
  if (lines.length <= maxPromptLines + 1) return prompt
  return [...lines.slice(0, maxPromptLines), `… ${plural(lines.length - maxPromptLines, 'more line')}`].join('\n')
}

/** The text as lines; lines that are not the model's have a mark. */
export function saidLines({ by, text }: Pick<SaidView, 'by' | 'text'>, { columns, colors }: Canvas): string[] {
  const mark = marks[by]
  const paint = { user: colors.bold, model: String, thought: colors.dim, host: colors.dim, warning: colors.yellow }[by]
  const clean = cleanText(text).replace(/\n+$/, '')
  const lines = wrap(by === 'user' ? shortened(clean) : clean, columns - mark.length)
  return lines.map((line, index) => paint(`${index === 0 ? mark : ' '.repeat(mark.length)}${line.trimEnd()}`))
}
