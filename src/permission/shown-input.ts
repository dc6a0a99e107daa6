import { sha256 } from '../base/sha256.ts'
import { visibleLine } from './visible-text.ts'

/** A line of an input. The gutter shows its kind, and is part of the display. */
export interface ShownLine {
  /** A name, a line of text, or a line of a change. */
  readonly kind: 'field' | 'text' | 'same' | 'removed' | 'added'
  readonly indent: number
  readonly text: string
}

const gutters = { field: '', text: '│ ', same: '  ', removed: '- ', added: '+ ' } as const

/** The start of a line: its indentation and kind. */
export const gutterOf = ({ kind, indent }: ShownLine): string => ' '.repeat(indent) + gutters[kind]

const longText = 2_000
const longLines = 40

/**
 * Everything a person sees of an input before they allow it: every field, complete, with nothing invisible. An edit is
 * shown as a diff, and long texts have their size and SHA-256. Two different inputs never look the same.
 *
 * @example
 * for (const line of showInput({ command: 'ls -la' })) console.log(gutterOf(line) + line.text)
 */
export function showInput(input: unknown): ShownLine[] {
  const lines: ShownLine[] = []
  if (isRecord(input)) fields(input, 0, lines)
  else value('(input)', input, 0, lines)
  return lines
}

/** The same as one text. */
export const showInputText = (input: unknown): string =>
  showInput(input)
    .map((line) => gutterOf(line) + line.text)
    .join('\n')

function fields(record: Readonly<Record<string, unknown>>, indent: number, lines: ShownLine[]): void {
  const { old_string: before, new_string: after } = record
  const isEdit = typeof before === 'string' && typeof after === 'string'
  for (const [key, each] of Object.entries(record)) {
    if (!isEdit || (key !== 'old_string' && key !== 'new_string')) value(nameOf(key), each, indent, lines)
    else if (key === 'old_string') change(before, after, indent, lines)
  }
}

/** The display name of a key; quotes distinguish it from generated names. */
const nameOf = (key: string): string => visibleLine(/^[A-Za-z_][\w-]*$/.test(key) ? key : JSON.stringify(key))

function value(name: string, given: unknown, indent: number, lines: ShownLine[]): void {
  const field = (text: string): number => lines.push({ kind: 'field', indent, text })
  if (typeof given === 'string') {
    const rows = given.split('\n')
    field(`${name}:${sizeOf(given, rows.length)}`)
    for (const row of rows) lines.push({ kind: 'text', indent, text: visibleLine(row) })
  } else if (Array.isArray(given) && given.length > 0) {
    field(`${name}:`)
    for (const [index, each] of given.entries()) value(`[${index}]`, each, indent + 2, lines)
  } else if (isRecord(given) && Object.keys(given).length > 0) {
    field(`${name}:`)
    fields(given, indent + 2, lines)
  } else field(`${name}: ${scalar(given)}`)
}

function sizeOf(text: string, rows: number): string {
  if (text.length <= longText && rows <= longLines) return ''
  const number = (count: number): string => count.toLocaleString('en-US')
  return ` (${number(text.length)} characters, ${number(rows)} ${rows === 1 ? 'line' : 'lines'}, SHA-256 ${sha256(text)})`
}

function scalar(given: unknown): string {
  if (Array.isArray(given)) return '[]'
  if (typeof given === 'number') return Object.is(given, -0) ? '-0' : String(given)
  if (given === null || typeof given === 'boolean' || given === undefined) return String(given)
  if (typeof given === 'bigint') return `${given}n`
  if (isRecord(given) && Object.getPrototypeOf(given) === Object.prototype) return '{}'
  return visibleLine(`${Object.prototype.toString.call(given)} ${JSON.stringify(given) ?? String(given)}`)
}

/** The common lines at both ends, and between them the removed and added lines. */
function change(before: string, after: string, indent: number, lines: ShownLine[]): void {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  const most = Math.min(old.length, fresh.length)
  let head = 0
  while (head < most && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < most - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++
  const size = sizeOf(`${before}\n${after}`, old.length + fresh.length)
  lines.push({ kind: 'field', indent, text: `old_string → new_string:${size}` })
  const add = (kind: ShownLine['kind'], rows: readonly string[]): void => {
    for (const row of rows) lines.push({ kind, indent, text: visibleLine(row) })
  }
  add('same', old.slice(0, head))
  add('removed', old.slice(head, old.length - tail))
  add('added', fresh.slice(head, fresh.length - tail))
  add('same', old.slice(old.length - tail))
}

const isRecord = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given) && !(given instanceof Date)
