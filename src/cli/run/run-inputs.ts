import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Message } from '../../index.ts'
import type { ToolSet } from '../../tools/index.ts'
import { checkTranscript } from '../../transcript/index.ts'
import { readTranscript } from '../check/read-transcript.ts'
import type { Io } from '../io.ts'
import { usageError } from '../usage-error.ts'

/** From the command line, from a pipe, or what the script says. */
export async function readPrompt(words: readonly string[], otherwise: string | undefined, io: Io): Promise<string> {
  const given = words.join(' ').trim()
  const isPiped = given === '-' || (given === '' && otherwise === undefined && io.stdin.isTTY !== true)
  const prompt = isPiped ? (await text(io.stdin)).trim() : given || otherwise
  if (prompt) return prompt
  throw usageError('What shall it do? Give a prompt (signalbox run "…"), pipe one in, or play a script (--script).')
}

/** A conversation that the API would refuse is not gone on with. */
export function readBefore(path: string, hasNewFile: boolean): Message[] {
  const { messages, faults, form } = readTranscript(path)
  if (faults.length > 0 || !checkTranscript(messages).ok) {
    throw usageError(`${path} cannot be gone on with as it is. signalbox check ${path} --repair mends it.`)
  }
  const isOwn = form === 'lines' && messages.every((message) => Object.hasOwn(Object(message), 'type'))
  if (isOwn || hasNewFile) return messages as Message[]
  throw usageError(
    `${path} is not one of our transcripts, so nothing is added to it. Name a new file with --transcript.`,
  )
}

export function readFolder(path: string): string {
  try {
    if (statSync(path).isDirectory()) return resolve(path)
  } catch {
    // said below
  }
  throw usageError(`--cwd ${path}: there is no such folder.`)
}

/** WebSearch is left out: nobody here can search the web for it. */
export function chooseTools(
  { tools }: ToolSet,
  names: readonly string[] | undefined,
  hasAgent: boolean,
): { tools: ToolSet['tools']; withAgent: boolean } {
  const all = tools.filter(({ name }) => name !== 'WebSearch')
  const known = [...all.map(({ name }) => name), ...(hasAgent ? ['Agent'] : [])]
  const unknown = names?.find((name) => !known.includes(name))
  if (unknown !== undefined) throw usageError(`There is no tool ${unknown}. There are ${known.join(', ')}.`)
  if (names === undefined) return { tools: all, withAgent: hasAgent }
  return { tools: all.filter(({ name }) => names.includes(name)), withAgent: names.includes('Agent') }
}
