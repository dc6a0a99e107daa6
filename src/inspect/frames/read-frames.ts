import { SignalboxError } from '../../base/signalbox-error.ts'
import { checkFrame } from './check-frame.ts'
import { type Frame, frameVersion } from './frame.ts'

/** A frame as a line of a recording. */
export const frameLine = (frame: Frame): string => `${JSON.stringify(frame)}\n`

const maxLineLength = 8_000_000

/**
 * Streams a recording line by line, at any size. Input is untrusted: an invalid frame throws an error that names the
 * line; a truncated last line becomes a gap.
 */
export async function* readFrames(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<Frame, void, undefined> {
  let number = 0
  let last: Frame | undefined
  for await (const { text, isWhole } of linesOf(chunks)) {
    number++
    if (text.trim() === '') continue
    const frame = readLine(text, number, isWhole)
    if (frame === 'cut') {
      if (last === undefined) fail(number, 'expected a frame, received the end of the file')
      yield { seq: last.seq + 1, at: last.at, run: 0, type: 'gap', because: 'truncated', lost: 1 }
      return
    }
    if (frame === undefined) continue
    if (last === undefined) assertHead(frame, number)
    last = frame
    yield frame
  }
  if (last === undefined) fail(number, 'the file is empty')
}

function readLine(text: string, number: number, isWhole: boolean): Frame | 'cut' | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    if (!isWhole) return 'cut'
    fail(number, 'not JSON')
  }
  const frame = checkFrame(value)
  if (typeof frame === 'string') fail(number, frame)
  return frame
}

function assertHead(frame: Frame, number: number): void {
  if (frame.type !== 'head') fail(number, `expected a head frame, received a ${frame.type} frame`)
  if (frame.version === frameVersion) return
  fail(number, `expected version ${frameVersion}, received version ${frame.version}`)
}

async function* linesOf(
  chunks: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<{ text: string; isWhole: boolean }> {
  const decoder = new TextDecoder()
  let begun: string[] = []
  let length = 0
  let number = 0
  for await (const chunk of chunks) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      number++
      yield {
        text: begun.length === 0 ? text.slice(start, end) : begun.join('') + text.slice(start, end),
        isWhole: true,
      }
      begun = []
      length = 0
      start = end + 1
    }
    if (start < text.length) {
      begun.push(text.slice(start))
      length += text.length - start
    }
    if (length > maxLineLength)
      fail(number + 1, `expected a line of at most ${maxLineLength} characters, received a longer one`)
  }
  begun.push(decoder.decode())
  const rest = begun.join('')
  if (rest !== '') yield { text: rest, isWhole: false }
}

function fail(line: number, problem: string): never {
  throw new SignalboxError('invalid_recording', `Not a Signalbox recording: line ${line}: ${problem}.`)
}
