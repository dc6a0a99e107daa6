import { copyInput } from '../base/copy-input.ts'
import { describeError } from '../base/describe-error.ts'
import { isRecord } from '../base/read-field.ts'
import { isThenable } from '../base/when-settled.ts'
import type { AnyTool } from '../tool/tool.ts'
import { explainIssues, explainNotAnObject } from './explain-input.ts'

export interface ValidReading {
  readonly status: 'valid'
  readonly input: Record<string, unknown>
}

interface InvalidReading {
  readonly status: 'invalid'
  readonly problem: string
}

/** The result of reading an input, from the model or from a host that changed it. */
export type InputReading =
  | ValidReading
  | InvalidReading
  /** The schema has asynchronous parts and is still running; the `validating` phase waits for it. */
  | { readonly status: 'unread'; readonly pending: Promise<ValidReading | InvalidReading> }

/** Reads as far as possible without waiting. Never throws, and `pending` never rejects. */
export function readInput(tool: AnyTool, given: unknown, maxChars: number): InputReading {
  try {
    if (!isRecord(given)) return { status: 'invalid', problem: explainNotAnObject(given, keysOf(tool)) }
    const copied = copyInput(given, maxChars)
    if (!copied.ok) return { status: 'invalid', problem: tooMuch[copied.because](maxChars) }
    return parse(tool, copied.copy as Record<string, unknown>)
  } catch (error) {
    return schemaThrew(error)
  }
}

const tooMuch = {
  tooLarge: (maxChars: number) => `the input is larger than ${maxChars} characters. Send less at a time.`,
  tooDeep: () => 'the input is nested too deeply. Send a flatter one.',
} as const

/**
 * Uses the schema's own runner, which is asynchronous only if needed. `safeParse` would throw for an asynchronous part and
 * leave an unhandled rejection.
 */
function parse(tool: AnyTool, raw: Record<string, unknown>): InputReading {
  const { inputSchema } = tool
  const ran = inputSchema._zod.run({ value: raw, issues: [] }, { async: true })
  if (!isThenable(ran)) {
    return ran.issues.length === 0 ? valid(ran.value) : verdictOf(inputSchema.safeParse(raw), raw, tool)
  }
  const pending = Promise.resolve(ran).then(
    async ({ value, issues }) =>
      issues.length === 0 ? valid(value) : verdictOf(await inputSchema.safeParseAsync(raw), raw, tool),
    schemaThrew,
  )
  return { status: 'unread', pending: pending.catch(schemaThrew) }
}

type Parsed = ReturnType<AnyTool['inputSchema']['safeParse']>

const valid = (value: unknown): ValidReading => ({ status: 'valid', input: value as Record<string, unknown> })

/** The keys of the schema, if it exposes them. */
const keysOf = ({ inputSchema }: AnyTool): string[] => Object.keys(inputSchema.shape ?? {})

const verdictOf = (parsed: Parsed, raw: unknown, tool: AnyTool): ValidReading | InvalidReading =>
  parsed.success
    ? valid(parsed.data)
    : { status: 'invalid', problem: explainIssues(parsed.error.issues, raw, keysOf(tool)) }

const schemaThrew = (error: unknown): InvalidReading => ({
  status: 'invalid',
  problem: `the input could not be checked. ${describeError(error)}`,
})
