import { visibleLine } from 'signalbox'
import type { Encoded } from 'signalbox/inspect'
import stringWidth from 'string-width'
import { duration, plural } from './amounts.ts'
import { type CallStatus, callStatus, type Tone } from './call-status.ts'
import { type CallView, labelOf } from './call-view.ts'
import { cleanLine, cleanText } from './clean-text.ts'
import type { Colors } from './colors.ts'
import { cut, wrap } from './fit.ts'
import { resultBody } from './result-body.ts'
import type { SessionView } from './session-view.ts'

export interface Canvas {
  readonly columns: number
  /** The size of the terminal, if there is one. */
  readonly rows?: number
  readonly colors: Colors
  /** Milliseconds on the clock of the frames. */
  readonly now: number
}

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const spinnerMs = 80
const maxTail = 3
const indent = '    '

const glyphs: Readonly<Record<Exclude<Tone, 'works'>, readonly [string, keyof Colors]>> = {
  waits: ['◌', 'dim'],
  asks: ['?', 'yellow'],
  held: ['▪', 'yellow'],
  ok: ['✓', 'green'],
  error: ['✗', 'red'],
  stopped: ['⊘', 'yellow'],
}

/** A finished call: its line and its result. */
export function finishedCall(call: CallView, session: SessionView, canvas: Canvas): string[] {
  const body = resultBody(call, canvas.colors)
  return [...headLines(call, callStatus(call, session), canvas), ...framed(body, canvas)]
}

/** A running call: its line, and below it the end of its output so far. */
export function activeCall(call: CallView, session: SessionView, canvas: Canvas): { head: string[]; tail: string[] } {
  const status = callStatus(call, session)
  const isRunning = status.tone === 'works' && call.ranAt !== undefined
  const words = isRunning ? `${status.words} ${duration(canvas.now - (call.ranAt ?? 0))}` : status.words
  const tail = isRunning ? tailOf(call) : []
  return { head: headLines(call, { ...status, words }, canvas), tail: framed(tail.map(canvas.colors.dim), canvas) }
}

function headLines(call: CallView, { tone, words }: CallStatus, { columns, colors, now }: Canvas): string[] {
  const glyph = tone === 'works' ? colors.cyan(spinAt(now)) : paintGlyph(tone, colors)
  const head = `${glyph} ${colors.dim(`#${call.number}`)} ${label(call, colors)}`
  const said = words === '' ? '' : colorOf(tone, colors)(words)
  const whole = said === '' ? head : `${head} ${colors.dim('·')} ${said}`
  if (stringWidth(whole) <= columns) return [whole]
  const rest = wrap(words, columns - indent.length).slice(0, 3)
  return [cut(head, columns), ...rest.map((line) => indent + colorOf(tone, colors)(line.trim()))]
}

const spinAt = (now: number): string => spinner[Math.floor(Math.max(0, now) / spinnerMs) % spinner.length] ?? ' '

function paintGlyph(tone: Exclude<Tone, 'works'>, colors: Colors): string {
  const [glyph, color] = glyphs[tone]
  return (colors[color] as (text: string) => string)(glyph)
}

const colorOf = (tone: Tone, colors: Colors): ((text: string) => string) =>
  tone === 'error' ? colors.red : tone === 'ok' || tone === 'works' ? colors.dim : colors.yellow

/** `Bash(npm test)` with the name in bold. */
function label(call: CallView, { bold }: Colors): string {
  const [clean, cleanName] = [labelOf(call), visibleLine(call.name)]
  return clean.startsWith(cleanName) ? `${bold(cleanName)}${clean.slice(cleanName.length)}` : clean
}

function tailOf({ output, progress }: CallView): string[] {
  if (output.text === '')
    return progress === undefined ? [] : [agentLine(progress) ?? cleanLine(JSON.stringify(progress))]
  const lines = cleanText(output.text).trimEnd().split('\n')
  const above = output.lines - Math.min(maxTail, lines.length)
  const shown = lines.slice(-maxTail)
  return lines.length > maxTail ? [`… ${plural(above, 'line')} above`, ...shown] : shown
}

const framed = (lines: readonly string[], { columns, colors }: Canvas): string[] =>
  lines.map((line) => cut(`  ${colors.dim('│')} ${line}`, columns))

/** An agent's progress in one line; undefined if the progress is not an agent's. */
export function agentLine(progress: Encoded | undefined): string | undefined {
  if (typeof progress !== 'object' || progress === null || Array.isArray(progress)) return undefined
  const { type, turns, calls, newest } = progress as { readonly [key: string]: Encoded }
  if (type !== 'agent_progress' || typeof turns !== 'number' || typeof calls !== 'number') return undefined
  const counts = `${plural(turns, 'turn')}, ${plural(calls, 'call')}`
  return typeof newest === 'string' ? `${counts}, latest ${cleanLine(newest)}` : counts
}
