import { describeError } from '../errors/describe-error.ts'
import { readField } from '../errors/read-field.ts'
import type { AnyTool } from '../tool/tool.ts'
import { copyInput } from './copy-input.ts'
import { explainIssues, explainNotAnObject } from './explain-input.ts'

/** What became of an input that came from outside: from the model, or from a host that changed it. */
export type InputReading =
  | { readonly status: 'valid'; readonly input: Record<string, unknown> }
  | { readonly status: 'invalid'; readonly problem: string }
  /** The schema has asynchronous parts: what it says comes later, in the `validating` phase. */
  | { readonly status: 'unread'; readonly raw: Record<string, unknown> }

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads as far as can be read without waiting. Never throws. */
export function readInput(tool: AnyTool, given: unknown, maxChars: number): InputReading {
  try {
    if (!isRecord(given)) return { status: 'invalid', problem: explainNotAnObject(given) }
    const copied = copyInput(given, maxChars)
    if (!copied.ok) return { status: 'invalid', problem: tooMuch[copied.because](maxChars) }
    return parse(tool, copied.copy as Record<string, unknown>)
  } catch (error) {
    return { status: 'invalid', problem: `the input could not be read. ${describeError(error)}` }
  }
}

/** The same for a schema that has to be waited for. */
export async function readInputAsync(tool: AnyTool, raw: Record<string, unknown>): Promise<InputReading> {
  try {
    return verdictOf(await tool.inputSchema.safeParseAsync(raw), raw)
  } catch (error) {
    return schemaThrew(error)
  }
}

const tooMuch = {
  tooLarge: (maxChars: number) => `the input is larger than ${maxChars} characters. Send less at a time.`,
  tooDeep: () => 'the input is nested too deep. Send a flatter one.',
} as const

function parse(tool: AnyTool, raw: Record<string, unknown>): InputReading {
  try {
    return verdictOf(tool.inputSchema.safeParse(raw), raw)
  } catch (error) {
    const name = readField(readField(error, 'constructor'), 'name')
    return name === '$ZodAsyncError' ? { status: 'unread', raw } : schemaThrew(error)
  }
}

type Parsed = ReturnType<AnyTool['inputSchema']['safeParse']>

const verdictOf = (parsed: Parsed, raw: unknown): InputReading =>
  parsed.success
    ? { status: 'valid', input: parsed.data }
    : { status: 'invalid', problem: explainIssues(parsed.error.issues, raw) }

const schemaThrew = (error: unknown): InputReading => ({
  status: 'invalid',
  problem: `the tool's schema could not check the input. ${describeError(error)}`,
})
