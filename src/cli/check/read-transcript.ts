import { readFileSync } from 'node:fs'
import { fileError } from '../file-error.ts'

/** A file of messages, and where in it each of them stands. */
export interface TranscriptFile {
  readonly form: 'lines' | 'array'
  readonly messages: unknown[]
  /** The line of each message; the place in the array, from 1, where it is one. */
  readonly lines: number[]
  readonly faults: LineFault[]
}

/** A line that is no message at all. */
export interface LineFault {
  readonly code: 'torn_line' | 'bad_json'
  readonly line: number
  readonly message: string
}

/** Reads a transcript: a message of JSON per line, or one array of messages. */
export function readTranscript(path: string): TranscriptFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw fileError(path, error)
  }
  return readArray(text) ?? readLines(text)
}

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

/** A last line without its end was being written when the writer was killed. */
const faultOf = (line: number, isTorn: boolean): LineFault =>
  isTorn
    ? { code: 'torn_line', line, message: 'The last line breaks off: whoever wrote it was ended in the middle.' }
    : { code: 'bad_json', line, message: 'This line is not JSON.' }

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
