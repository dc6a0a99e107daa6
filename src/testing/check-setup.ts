import { SignalboxError } from '../base/signalbox-error.ts'
import { nearestKey } from '../pipeline/explain-input.ts'
import type { AnyTool } from '../tool/tool.ts'

export interface ToExplore {
  readonly tools: readonly AnyTool[]
  /** The names of the tools that are called. */
  readonly called: readonly string[]
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
  const missing = called.filter((name) => !names.includes(name))
  for (const name of missing) {
    const meant = nearestKey(name, names)
    if (meant !== undefined) refuse(`Unknown tool ${name}. Did you mean ${meant}?`)
  }
  if (called.length > 0 && missing.length === called.length) {
    refuse(`No call would run: the calls name ${missing.join(', ')}. Known tools: ${names.join(', ') || 'none'}.`)
  }
}

function refuse(problem: string): never {
  throw new SignalboxError('invalid_option', problem)
}
