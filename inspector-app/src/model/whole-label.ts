import type { Encoded, FrameOf } from '../../../src/inspect/index.ts'

/** A longer name would fill the page. */
const most = 100

/** The label of a call, with what was cut from it if the input has it: the ends of paths differ. */
export function wholeLabel({ name, label, input }: Pick<FrameOf<'call'>, 'name' | 'label' | 'input'>): string {
  if (!label.startsWith(`${name}(`) || !label.endsWith('…)')) return label
  const begun = label.slice(name.length + 1, -'…)'.length)
  const summary = summariesIn(input).find((text) => text.startsWith(begun))
  return summary === undefined ? label : `${name}(${shorten(summary)})`
}

/** The fields that describe a call. */
function summariesIn(input: Encoded): string[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return []
  const { command, file_path, pattern } = input as { readonly [key: string]: Encoded }
  return [command, file_path, pattern].flatMap((value) => textOf(value) ?? [])
}

/** A text, or the beginning of a truncated one. */
function textOf(value: Encoded | undefined): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return typeof value === 'string' ? value : undefined
  const { $: kind, text } = value as { readonly [key: string]: Encoded }
  return kind === 'text' && typeof text === 'string' ? `${text}…` : undefined
}

/** Paths lose their middle, other texts their end. */
function shorten(text: string): string {
  if (text.length <= most) return text
  if (/\s/.test(text) || !text.includes('/')) return `${text.slice(0, most)}…`
  return `${text.slice(0, most * 0.4)}…${text.slice(-most * 0.6)}`
}
