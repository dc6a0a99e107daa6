import { describeError } from '../base/describe-error.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import { nearestKey } from '../pipeline/explain-input.ts'
import type { AnyTool } from '../tool/tool.ts'

export interface ToExplore {
  readonly tools: readonly AnyTool[]
  readonly called: readonly { readonly tool: string; readonly input?: unknown }[]
  readonly happenings: object | undefined
  /** All known happenings. */
  readonly known: object
}

/** Rejects setups in which no tool would run: a typo must not look like a passed exploration. */
export function checkSetup({ tools, called, happenings = {}, known }: ToExplore): void {
  for (const name of Object.keys(happenings)) {
    if (!(name in known)) refuse(`Unknown happening ${name}. Known happenings: ${Object.keys(known).join(', ')}.`)
  }
  const names = tools.flatMap(({ name, aliases = [] }) => [name, ...aliases])
  const missing = called.map(({ tool }) => tool).filter((name) => !names.includes(name))
  for (const name of missing) {
    const meant = nearestKey(name, names)
    if (meant !== undefined) refuse(`Unknown tool ${name}. Did you mean ${meant}?`)
  }
  if (called.length > 0 && missing.length === called.length) {
    refuse(`No call would run: the calls name ${missing.join(', ')}. Known tools: ${names.join(', ') || 'none'}.`)
  }
  const problems = called.map(({ tool, input }) => inputProblem(toolNamed(tools, tool), input))
  if (called.length > 0 && problems.every((problem) => problem !== undefined)) {
    refuse(`No call would run, because no input matches the schema of its tool. ${called[0]?.tool}: ${problems[0]}`)
  }
}

const toolNamed = (tools: readonly AnyTool[], named: string): AnyTool | undefined =>
  tools.find(({ name, aliases = [] }) => name === named || aliases.includes(named))

function inputProblem(tool: AnyTool | undefined, input: unknown = {}): string | undefined {
  if (tool === undefined) return 'unknown tool'
  try {
    return tool.inputSchema.safeParse(input).error?.message
  } catch (error) {
    return describeError(error)
  }
}

function refuse(problem: string): never {
  throw new SignalboxError('invalid_option', problem)
}
