import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ToolSet } from '@signalbox/tools'
import type { Message } from 'signalbox'
import { checkTranscript } from 'signalbox/transcripts'
import { readTranscript } from '../check/read-transcript.ts'
import type { Io } from '../io.ts'
import { usageError } from '../usage-error.ts'
import { pipedInput } from './piped-input.ts'

/** The prompt from the command line, with piped input below it; from a pipe alone; or from the script. */
export async function readPrompt(words: readonly string[], otherwise: string | undefined, io: Io): Promise<string> {
  const waits = words.at(-1) === '-'
  const given = (waits ? words.slice(0, -1) : words).join(' ').trim()
  const isAlone = given === '' && (waits || (otherwise === undefined && io.stdin.isTTY !== true))
  if (given === '' && !isAlone && otherwise !== undefined) return otherwise
  const piped = waits || isAlone ? (await text(io.stdin)).trim() : await pipedInput(io)
  const prompt = given === '' ? piped : piped === '' ? given : `${given}\n\n<stdin>\n${piped}\n</stdin>`
  if (prompt) return prompt
  throw usageError('Missing prompt. Usage: signalbox run "<prompt>", or pipe one in, or play a script with --script.')
}

/** A conversation that the API would reject is not continued. */
export function readBefore(path: string, hasNewFile: boolean): Message[] {
  const { messages, faults, form } = readTranscript(path)
  if (faults.length > 0 || !checkTranscript(messages).ok) {
    throw usageError(
      `${path} cannot be continued, because it is not valid. To repair it: signalbox check ${path} --repair`,
    )
  }
  const isOwn = form === 'lines' && messages.every((message) => Object.hasOwn(Object(message), 'type'))
  if (isOwn || hasNewFile) return messages as Message[]
  throw usageError(
    `${path} is not a Signalbox transcript and cannot be appended to. Choose a new file with --transcript.`,
  )
}

export function readFolder(path: string): string {
  try {
    if (statSync(path).isDirectory()) return resolve(path)
  } catch {
    // reported below
  }
  throw usageError(`--cwd ${path}: no such folder.`)
}

/** Without WebSearch: the command line has no search service. */
export function chooseTools(
  { tools }: ToolSet,
  names: readonly string[] | undefined,
  hasAgent: boolean,
): { tools: ToolSet['tools']; withAgent: boolean } {
  const all = tools.filter(({ name }) => name !== 'WebSearch')
  const known = [...all.map(({ name }) => name), ...(hasAgent ? ['Agent'] : [])]
  const unknown = names?.find((name) => !known.includes(name))
  if (unknown !== undefined) throw usageError(`Unknown tool ${unknown}. Known tools: ${known.join(', ')}.`)
  if (names === undefined) return { tools: all, withAgent: hasAgent }
  return { tools: all.filter(({ name }) => names.includes(name)), withAgent: names.includes('Agent') }
}
