import { toolError } from 'signalbox'
import { nearMisses } from './near-misses.ts'

export interface TextEdit {
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean | undefined
}

/** Replaces the given text, or explains why the edit is ambiguous. Keeps the file's line endings. */
export function applyEdit(text: string, edit: TextEdit, label: string): string {
  const { replace_all: all = false } = edit
  // compared without carriage returns, which models omit; each part gets its own back
  const plain = text.replaceAll('\r\n', '\n')
  const sought = edit.old_string.replaceAll('\r\n', '\n')
  // a single replacement counts overlapping matches too: aa occurs twice in aaa
  const places = placesOf(plain, sought, all ? sought.length : 1)
  if (places.length === 0) throw toolError(notFound(plain, sought, label), 'NotFound')
  if (places.length > 1 && !all) throw toolError(notUnique(plain, places, label), 'NotUnique')
  const returns = carriageReturns(text)
  const toOriginal = (at: number): number => at + countBelow(returns, at)
  let out = ''
  let from = 0
  for (const place of places) {
    const start = toOriginal(place)
    const end = toOriginal(place + sought.length)
    out += text.slice(from, start) + withEndings(edit.new_string, endingsNear(text, start, end))
    from = end
  }
  return out + text.slice(from)
}

function placesOf(text: string, sought: string, step: number): number[] {
  const places: number[] = []
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + step)) places.push(at)
  return places
}

/** For each `\r\n`, the offset of its line end in the text without carriage returns. */
function carriageReturns(text: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf('\r\n'); at >= 0; at = text.indexOf('\r\n', at + 2)) found.push(at - found.length)
  return found
}

function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < limit) low = middle + 1
    else high = middle
  }
  return low
}

/** The line endings of the replaced part; those of the file if the part has none. */
function endingsNear(text: string, start: number, end: number): '\n' | '\r\n' {
  const part = text.slice(start, end)
  const sample = part.includes('\n') ? part : text
  const returns = sample.split('\r\n').length - 1
  return returns > 0 && returns * 2 >= sample.split('\n').length - 1 ? '\r\n' : '\n'
}

const withEndings = (text: string, ending: '\n' | '\r\n'): string =>
  text.replaceAll('\r\n', '\n').replaceAll('\n', ending)

function notFound(text: string, sought: string, label: string): string {
  const near = nearMisses(text, sought)
  if (near.length === 0)
    return `${label}: old_string was not found in the file, and no similar text exists. Read the file again.`
  return `${label}: old_string was not found in the file. It must match exactly, including white space. Similar lines:\n${near.join('\n')}`
}

function notUnique(text: string, places: readonly number[], label: string): string {
  const lines = places.slice(0, 10).map((place) => text.slice(0, place).split('\n').length)
  const more = places.length > lines.length ? ', …' : ''
  return `${label}: old_string occurs ${places.length} times (lines ${lines.join(', ')}${more}). Add surrounding lines until it is unique, or set replace_all.`
}
