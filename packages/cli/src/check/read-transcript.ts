import { readFileSync } from 'node:fs'
import { fileError, usageError } from '../usage-error.ts'

/** A file of messages, and the position of each message in it. */
export interface TranscriptFile {
  readonly form: 'lines' | 'array'
  readonly messages: unknown[]
  /** The line of each message; for an array, its position, starting at 1. */
  readonly lines: number[]
  readonly faults: LineFault[]
}

/** A line that is not a message. */
interface LineFault {
  readonly code: 'torn_line' | 'bad_json'
  readonly line: number
  readonly message: string
}

/** Reads a transcript: one JSON message per line, or one array of messages. */
export function readTranscript(path: string): TranscriptFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw fileError(path, error)
  }
  const file = readArray(text) ?? readLines(text)
  if (isRecording(file.messages)) {
    throw usageError(`${path} is a recording, not a transcript. Play it with: signalbox replay ${path}`)
  }
  return file
}

/** Frames, each with its number and its time. */
const isRecording = (items: readonly unknown[]): boolean =>
  items.length > 0 && items.every((item) => typeof Object(item).seq === 'number' && typeof Object(item).at === 'number')

function readArray(text: string): TranscriptFile | undefined {
  if (!text.trimStart().startsWith('[')) return undefined
  const messages = parse(text)
  if (!Array.isArray(messages)) return undefined
  return { form: 'array', messages, lines: messages.map((_, index) => index + 1), faults: [] }
}

function readLines(text: string): TranscriptFile {
  const file: TranscriptFile = { form: 'lines', messages: [], lines: [], faults: [] }
  const lines = text.split('\n')
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const message = parse(line)
    if (message !== undefined) {
      file.messages.push(message)
      file.lines.push(index + 1)
    } else file.faults.push(faultOf(index + 1, index === lines.length - 1))
  }
  return file
}

/** A last line without a line break was being written when the writer was killed. */
const faultOf = (line: number, isTorn: boolean): LineFault =>
  isTorn
    ? { code: 'torn_line', line, message: 'The last line is incomplete: its writer was stopped in the middle.' }
    : { code: 'bad_json', line, message: 'This line is not valid JSON.' }

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
