import { createHash } from 'node:crypto'
import type { OpenFile } from './workspace/file-system.ts'

export interface ReadLines {
  readonly lines: readonly string[]
  /** Number of lines in the part of the file that was read. */
  readonly total: number
  /** The file continues after the part that was read. */
  readonly isCut: boolean
  /** The last line continues too: reading stopped in the middle of it. */
  readonly isLineCut: boolean
  /** The signal ended reading early. */
  readonly isStopped: boolean
  /** Hash of the whole file, if the whole file was read. */
  readonly hash: string | undefined
  readonly longest: number
}

export interface LineLimits {
  /** The first line, starting at 1. */
  readonly offset: number
  readonly limit: number
  readonly maxLineChars: number
  readonly maxBytes: number
  readonly signal: AbortSignal
}

const step = 64 * 1024

/** Reads the requested lines and keeps nothing else in memory. Reads to the end, for the hash and the total. */
export async function readLines(file: OpenFile, limits: LineLimits): Promise<ReadLines> {
  const { offset, limit, maxLineChars, maxBytes, signal } = limits
  const hash = createHash('sha256')
  const decoder = new TextDecoder('utf-8')
  const buffer = Buffer.allocUnsafe(step)
  const lines: string[] = []
  let total = 0
  let longest = 0
  let line = ''
  let lineChars = 0
  let position = 0
  const endLine = (isLineCut = false): void => {
    total++
    longest = Math.max(longest, lineChars)
    if (total >= offset && lines.length < limit) lines.push(shorten(line, lineChars, maxLineChars, isLineCut))
    line = ''
    lineChars = 0
  }
  const take = (text: string): void => {
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      grow(text.slice(from, end))
      endLine()
      from = end + 1
    }
    grow(text.slice(from))
  }
  const grow = (text: string): void => {
    lineChars += text.length
    if (line.length <= maxLineChars) line += text.slice(0, maxLineChars + 1 - line.length)
  }
  for (;;) {
    if (signal.aborted)
      return { lines, total, isCut: true, isLineCut: false, isStopped: true, hash: undefined, longest }
    const read = await file.read(buffer, position)
    if (read === 0) break
    position += read
    const bytes = buffer.subarray(0, read)
    hash.update(bytes)
    take(decoder.decode(bytes, { stream: true }))
    if ((position > maxBytes && lines.length >= limit) || position > 16 * maxBytes) {
      // an unfinished last line is returned as far as it was read
      const isLineCut = lineChars > 0 && lines.length < limit
      if (isLineCut) endLine(true)
      return { lines, total, isCut: true, isLineCut, isStopped: false, hash: undefined, longest }
    }
  }
  take(decoder.decode())
  if (lineChars > 0) endLine()
  return { lines, total, isCut: false, isLineCut: false, isStopped: false, hash: hash.digest('hex'), longest }
}

function shorten(line: string, chars: number, max: number, isLineCut: boolean): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  if (isLineCut) return `${text.slice(0, max)}… (at least ${Math.max(0, chars - max)} more characters)`
  return chars > max + 1 ? `${text.slice(0, max)}… (${chars - max} more characters)` : text.slice(0, max)
}
