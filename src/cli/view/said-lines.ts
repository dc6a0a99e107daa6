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

/** What was said, as lines; those of others than the model carry a mark. */
export function saidLines({ by, text }: Pick<SaidView, 'by' | 'text'>, { columns, colors }: Canvas): string[] {
  const mark = marks[by]
  const paint = { user: colors.bold, model: String, thought: colors.dim, host: colors.dim, warning: colors.yellow }[by]
  const lines = wrap(cleanText(text).replace(/\n+$/, ''), columns - mark.length)
  return lines.map((line, index) => paint(`${index === 0 ? mark : ' '.repeat(mark.length)}${line.trimEnd()}`))
}
