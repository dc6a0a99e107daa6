import { type ShownLine, showInput, visibleLine } from 'signalbox'
import type { Canvas } from '../view/call-lines.ts'
import { cleanLine } from '../view/clean-text.ts'
import { cut, wrap } from '../view/fit.ts'
import { wrapShown } from '../view/wrap-shown.ts'
import type { PromptEntry } from './permission-prompts.ts'

export interface ShownQuestion extends Pick<PromptEntry, 'question' | 'always' | 'answersItselfAt' | 'input'> {
  readonly name: string
  readonly number: number | undefined
  /** The agent that makes the call. */
  readonly by?: string | undefined
  readonly typed: string | undefined
  /** Whether the rule can be saved in the project's settings. */
  readonly canKeep?: boolean | undefined
  /** Number of further prompts. */
  readonly more: number
  /** The first visible row of the input. */
  readonly top: number
  /** The end of the input has been shown. */
  readonly isRead: boolean
}

export interface QuestionPicture {
  readonly lines: readonly string[]
  /** Total number of rows, and how many are visible at once. */
  readonly rows: number
  readonly window: number
  /** The first visible row. */
  readonly top: number
}

const defaultRows = 24
/** With fewer rows the keys share a line. */
const fewRows = 12

/** A prompt at the bottom of the terminal: the whole call, why it is asked, and the keys. */
export function questionPicture(shown: ShownQuestion, canvas: Canvas): QuestionPicture {
  const { columns, colors, rows: screen = defaultRows } = canvas
  const { bold, yellow, dim } = colors
  const who = `${shown.number === undefined ? '' : `#${shown.number} `}${visibleLine(shown.name)}`
  const more = shown.more === 0 ? '' : dim(` (${shown.more} more ${shown.more === 1 ? 'waits' : 'wait'})`)
  const agent = shown.by === undefined ? '' : ` for ${visibleLine(shown.by)}`
  const title = wrap(`${yellow('?')} May ${bold(who)} run${agent}?${more}`, columns)
  const body = wrapShown(bodyOf(shown), columns - 4, colors)
  const isTight = screen < fewRows
  const keyLines = (isRead: boolean): string[] => {
    const lines = keys({ ...shown, isRead }, canvas)
    return isTight && shown.typed === undefined
      ? [cut(`  ${lines.join(' · ')}`, columns)]
      : lines.map((line) => cut(`  ${line}`, columns))
  }
  const head = isTight ? title : ['', ...title]
  // two rows of the screen stay free
  const room = Math.max(1, screen - 2 - head.length - Math.max(keyLines(true).length, keyLines(false).length))
  const isWhole = body.length <= room
  const window = isWhole ? body.length : Math.max(1, room - 1)
  const top = Math.max(0, Math.min(shown.top, body.length - window))
  const isRead = shown.isRead || top + window >= body.length
  const place = dim(`  rows ${top + 1}–${top + window} of ${body.length}; space, ↑ and ↓ show the rest`)
  return {
    lines: [
      ...head,
      ...body.slice(top, top + window).map((line) => `    ${line}`),
      ...(isWhole ? [] : [cut(place, columns)]),
      ...keyLines(isRead),
    ],
    rows: body.length,
    window,
    top,
  }
}

/** The reason, the input, and the rule that "always" would add: all of it must be shown before an answer. */
function bodyOf({ input, question, always }: ShownQuestion): ShownLine[] {
  const reason = reasonOf(question)
  const lines = [...(reason === undefined ? [] : text('asked because', reason)), ...showInput(input)]
  if ('rules' in always) {
    for (const rule of always.rules) {
      const name = rule.includes('(') ? 'always adds the rule' : 'always adds the rule, for any input'
      lines.push(...text(name, rule))
    }
  }
  return lines
}

const text = (name: string, value: string): ShownLine[] => [
  { kind: 'field', indent: 0, text: `${name}:` },
  ...value.split('\n').map((line): ShownLine => ({ kind: 'text', indent: 0, text: visibleLine(line) })),
]

function reasonOf(question: ShownQuestion['question']): string | undefined {
  const source = question?.because
  return source?.by === 'rule' ? `the rule ${source.rule} asks` : question?.message
}

function keys({ always, canKeep, typed, answersItselfAt, isRead }: ShownQuestion, { colors, now }: Canvas): string[] {
  const { bold, dim } = colors
  if (typed !== undefined) {
    const written = cleanLine(`x${typed}`).slice(1)
    return [`Why not? ${written}▏`, dim('Enter denies, with or without a reason; Esc goes back')]
  }
  const waits = answersItselfAt === undefined ? [] : [dim(`(yes by itself in ${secondsUntil(answersItselfAt, now)} s)`)]
  const no = `${bold('n')}  no`
  if (!isRead) return [`${bold('space')}  show more: you can answer yes after the end was shown`, no, ...waits]
  const lasting =
    'rules' in always ? `${bold('a')}  always: yes, and add the rule above` : dim(`–  not always: ${always.because}`)
  const kept = canKeep && 'rules' in always ? [`${bold('p')}  always, and save the rule for this project`] : []
  return [`${bold('y')}  yes, once`, lasting, ...kept, no, ...waits]
}

const secondsUntil = (at: number, now: number): number => Math.max(0, Math.ceil((at - now) / 1_000))
