import type { Encoded } from 'signalbox/inspect'
import { plainText } from './plain-text.ts'

/** As much of a running call's output as could ever be shown. */
const maxKept = 8_192

/** The output of a call, if its progress is output. */
export function printedBy(progress: Encoded): string | undefined {
  if (typeof progress === 'string') return `${progress}\n`
  if (typeof progress !== 'object' || progress === null || !('text' in progress)) return undefined
  const { $: tag, text } = progress as { $?: Encoded; text: Encoded }
  // a long text comes as an object of the same shape
  return tag === undefined || tag === 'text' ? plainText(tag === 'text' ? progress : text) : undefined
}

export function addOutput({ text, lines }: { text: string; lines: number }, more: string) {
  const all = text + more
  const counted = lines + more.split('\n').length - 1
  return { text: all.length > 2 * maxKept ? all.slice(-maxKept) : all, lines: counted }
}
