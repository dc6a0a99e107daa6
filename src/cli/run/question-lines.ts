import type { Encoded } from '../../inspect/index.ts'
import type { Canvas } from '../view/call-lines.ts'
import { cleanLine, cleanText } from '../view/clean-text.ts'
import { cut, wrap } from '../view/fit.ts'
import { textField } from '../view/plain-text.ts'
import { proposedChange } from '../view/result-body.ts'
import type { DeskQuestion } from './permission-desk.ts'

interface ShownQuestion extends Pick<DeskQuestion, 'question' | 'always' | 'answersItselfAt'> {
  readonly name: string
  readonly number: number | undefined
  /** The agent that wants it. */
  readonly by?: string | undefined
  readonly input: Encoded
  readonly typed: string | undefined
  /** How many questions wait behind it. */
  readonly more: number
}

const maxCommandLines = 6

/** A question as it stands at the bottom of the terminal: what wants to run, why it is asked, and the keys. */
export function questionLines(shown: ShownQuestion, canvas: Canvas): string[] {
  const { columns, colors } = canvas
  const { bold, yellow, dim } = colors
  const who = `${shown.number === undefined ? '' : `#${shown.number} `}${cleanLine(shown.name)}`
  const more = shown.more === 0 ? '' : dim(` (${shown.more} more ${shown.more === 1 ? 'waits' : 'wait'})`)
  return [
    '',
    cut(`${yellow('?')} May ${bold(who)} run${shown.by === undefined ? '' : ` for ${shown.by}`}?${more}`, columns),
    ...detail(shown, canvas),
    ...because(shown).flatMap((line) => wrap(dim(line), columns - 2).map((part) => `  ${part}`)),
    ...keys(shown, canvas),
  ]
}

function detail({ name, input }: ShownQuestion, { columns, colors }: Canvas): string[] {
  const path = textField(input, 'file_path')
  const change = proposedChange({ name, input }, colors)
  const text = textField(input, 'command') ?? path ?? JSON.stringify(input)
  const lines = cleanText(text).split('\n')
  const shown = lines.slice(0, maxCommandLines).flatMap((line) => wrap(line, columns - 4))
  const rest = lines.length > maxCommandLines ? [colors.dim(`… ${lines.length - maxCommandLines} more lines`)] : []
  return [...shown, ...rest, ...change].map((line) => cut(`    ${line}`, columns))
}

function because({ question }: ShownQuestion): string[] {
  const source = question?.because
  if (source?.by === 'rule') return [`The rule ${cleanLine(source.rule)} wants it asked.`]
  return question?.message === undefined ? [] : [cleanLine(question.message)]
}

function keys({ always, typed, answersItselfAt }: ShownQuestion, { columns, colors, now }: Canvas): string[] {
  const { bold, dim } = colors
  if (typed !== undefined) {
    const text = cleanLine(`x${typed}`).slice(1)
    return [
      cut(`  Why not? ${text}▏`, columns),
      cut(dim('  Enter says no, with or without a reason; Esc goes back'), columns),
    ]
  }
  const lasting =
    'rules' in always
      ? `${bold('a')}  always: ${always.rules.map(cleanLine).join(', ')}`
      : dim(`–  not always: ${always.because}`)
  const waits = answersItselfAt === undefined ? [] : [dim(`(yes by itself in ${secondsUntil(answersItselfAt, now)} s)`)]
  return [`${bold('y')}  yes, once`, lasting, `${bold('n')}  no`, ...waits].map((line) => cut(`  ${line}`, columns))
}

const secondsUntil = (at: number, now: number): number => Math.max(0, Math.ceil((at - now) / 1_000))
