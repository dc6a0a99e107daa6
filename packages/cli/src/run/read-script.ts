import { readFileSync } from 'node:fs'
import type { ScriptItem, ScriptTurn } from 'signalbox/scripted'
import { z } from 'zod'
import { fileError, usageError } from '../usage-error.ts'

/** The content of a script file: the model's turns, and how to play them. */
export interface ScriptFile {
  readonly prompt?: string | undefined
  readonly turns: ScriptTurn[]
  /** The turns of agents, in order, for any agent. */
  readonly agent?: ScriptTurn[] | undefined
  /** Milliseconds before each chunk of text. */
  readonly pace?: number | undefined
  /** Characters per chunk. */
  readonly chunk?: number | undefined
}

const count = z.number().min(0)
const errorSchema = z.union([
  z.string().transform((message) => new Error(message)),
  z
    .strictObject({ message: z.string(), status: z.number().int().optional() })
    .transform(({ message, status }) => Object.assign(new Error(message), status === undefined ? {} : { status })),
])

/** An item is identified by its first key. */
const items = {
  text: z.strictObject({ text: z.string() }),
  thinking: z.strictObject({ thinking: z.string(), signature: z.string().optional() }),
  call: z.strictObject({ call: z.string().min(1), input: z.unknown().optional(), id: z.string().optional() }),
  rawCall: z.strictObject({
    rawCall: z.string().min(1),
    json: z.string(),
    id: z.string().optional(),
    open: z.boolean().optional(),
  }),
  wait: z.strictObject({ wait: count }),
  stop: z.strictObject({ stop: z.string().min(1), usage: z.unknown().optional() }),
  cut: z.strictObject({ cut: z.literal(true) }),
  error: z.strictObject({ error: errorSchema }),
} as const

const headSchema = z.strictObject({
  prompt: z.string().min(1).optional(),
  pace: count.optional(),
  chunk: count.min(1).optional(),
  turns: z.array(z.unknown()),
  agent: z.array(z.unknown()).optional(),
})

/** Reads a script: JSON with `turns` (or just the array), or one turn per line in a `.jsonl` file. */
export function readScript(path: string): ScriptFile {
  const text = readText(path)
  const isLines = path.endsWith('.jsonl')
  const value = isLines ? readLines(text, path) : parse(text, path)
  const head = headSchema.safeParse(Array.isArray(value) ? { turns: value } : value)
  if (!head.success) throw refused(path, head.error)
  const { turns, agent, ...rest } = head.data
  if (turns.length === 0) throw usageError(`${path} has no turns. Add at least one.`)
  return {
    ...rest,
    turns: turns.map((turn, index) => readTurn(turn, `${path}, turn ${index + 1}`)),
    agent: agent?.map((turn, index) => readTurn(turn, `${path}, turn ${index + 1} of the agent`)),
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw fileError(path, error)
  }
}

/** A first line with a prompt holds the playback options. */
function readLines(text: string, path: string): unknown {
  const lines = text.split('\n').flatMap((line, index) => {
    return line.trim() === '' ? [] : [parse(line, `${path}, line ${index + 1}`)]
  })
  const [first, ...rest] = lines
  const isHead = typeof first === 'object' && first !== null && !Array.isArray(first) && !('turns' in first)
  return isHead && ['prompt', 'pace', 'chunk', 'agent'].some((key) => key in first)
    ? { ...first, turns: rest }
    : { turns: lines }
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usageError(`${where} is not valid JSON: ${(error as Error).message}.`, error)
  }
}

function readTurn(turn: unknown, where: string): ScriptTurn {
  if (typeof turn === 'string') return turn
  if (!Array.isArray(turn))
    throw usageError(`${where}: expected a string or an array of items, received ${kindOf(turn)}.`)
  return turn.map((item, index) => readItem(item, `${where}, item ${index + 1}`))
}

function readItem(item: unknown, where: string): ScriptItem {
  if (typeof item === 'string') return item
  const known = Object.keys(items) as (keyof typeof items)[]
  const key = typeof item === 'object' && item !== null ? known.find((name) => name in item) : undefined
  if (key === undefined) {
    throw usageError(
      `${where}: expected a string or an object with one of the keys ${known.join(', ')}, received ${kindOf(item)}.`,
    )
  }
  const read = items[key].safeParse(item)
  if (!read.success) throw refused(`${where} (${key})`, read.error)
  return read.data as ScriptItem
}

function refused(where: string, { issues }: z.ZodError): Error {
  const words = issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
  return usageError(`${where}: ${words.join('; ')}.`)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'object') return `a ${typeof value}`
  const keys = Object.keys(value)
  return keys.length === 0 ? 'an empty object' : `an object with ${keys.slice(0, 4).join(', ')}`
}
