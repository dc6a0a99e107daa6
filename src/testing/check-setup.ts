import { SignalboxError } from '../errors/signalbox-error.ts'
import { nearestKey } from '../pipeline/nearest-key.ts'
import type { AnyTool } from '../tool/tool.ts'

export interface ToExplore {
  readonly tools: readonly AnyTool[]
  /** The names of the tools that are called. */
  readonly called: readonly string[]
  readonly happenings: object | undefined
  /** Every happening that there is. */
  readonly known: object
}

/** A slip must not look like a proof: where nothing of the host's would run, nothing can be wrong. */
export function checkSetup({ tools, called, happenings = {}, known }: ToExplore): void {
  for (const name of Object.keys(happenings)) {
    if (!(name in known)) refuse(`There is no happening ${name}; there are ${Object.keys(known).join(', ')}.`)
  }
  const names = tools.flatMap(({ name, aliases = [] }) => [name, ...aliases])
  const missing = called.filter((name) => !names.includes(name))
  for (const name of missing) {
    const meant = nearestKey(name, names)
    if (meant !== undefined) refuse(`A call names the tool ${name}, which is not there; ${meant} is.`)
  }
  if (called.length > 0 && missing.length === called.length) {
    refuse(`Nothing would run: calls name ${missing.join(', ')}, and the tools are ${names.join(', ') || 'none'}.`)
  }
}

function refuse(problem: string): never {
  throw new SignalboxError('invalid_option', problem)
}
