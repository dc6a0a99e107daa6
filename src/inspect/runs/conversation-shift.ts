import { toMicros } from './agenda.ts'
import type { CallTimes } from './call-times.ts'
import type { Branch } from './conversation-tree.ts'
import type { LimitedConversation } from './limit-conversation.ts'
import type { BodyBy } from './scripted-call.ts'
import type { Visit } from './seen-call.ts'
import type { WhatIf, WhatIfWork } from './what-if.ts'

/** A run while it is simulated. Times are in microseconds. */
export interface Part extends Branch<Part> {
  work: WhatIfWork | undefined
  result: WhatIf | undefined
  recordedEnd: number | undefined
  simulatedEnd: number | undefined
  /** How much later it starts because of the parts before it. */
  shift: number
  /** False if a limit forbids its request. */
  isBegun: boolean
}

export const untouched = {
  work: undefined,
  result: undefined,
  recordedEnd: undefined,
  simulatedEnd: undefined,
  shift: 0,
  isBegun: true,
} as const

/** When the last result was handed over and the last word was said; undefined if a call does not end. */
export function endOf(calls: readonly CallTimes[], saidAt: number): number | undefined {
  let end = saidAt
  for (const { endedAt, yieldedAt = endedAt } of calls) {
    if (yieldedAt === undefined) return undefined
    end = Math.max(end, toMicros(yieldedAt))
  }
  return end
}

/** When a turn ends in the simulation. */
export const endIn = ({ simulatedEnd = Number.POSITIVE_INFINITY, shift }: Part): number => simulatedEnd + shift

/** How much longer each body takes because of the agents in it. */
export function bodiesWith(outer: Part, limited: LimitedConversation<Part> | undefined): BodyBy {
  const found = new Map<Visit, readonly Part[]>()
  for (const parts of byBody(outer.agents)) {
    const body = bodyAround(parts[0] as Part)
    if (body !== undefined) found.set(body.visit, parts)
  }
  const reachedAt = limited === undefined ? 0 : toMicros(limited.end.at) - outer.shift
  return (visit, now) => longerBy(found.get(visit) ?? [], reachedAt - (now - visit.from))
}

/** How much later the last of these runs ends. Requests are refused from this time on. */
function longerBy(parts: readonly Part[], reachedAt: number): number {
  shiftAll(parts, 0)
  const known = parts.filter(({ recordedEnd }) => recordedEnd !== undefined)
  if (known.length === 0) return 0
  const before = Math.max(...known.map(({ recordedEnd }) => recordedEnd as number))
  const refusedAt = firstOf(parts.filter(({ isBegun }) => !isBegun)).map(({ seen, shift }) =>
    Math.max(seen.startedAt + shift, reachedAt),
  )
  return Math.max(...known.filter(({ isBegun }) => isBegun).map(endIn), ...refusedAt) - before
}

/** Those that no other one comes before: an agent whose request is refused makes no other. */
function firstOf(parts: readonly Part[]): Part[] {
  const end = Math.min(...parts.map(({ recordedEnd = Number.POSITIVE_INFINITY }) => recordedEnd))
  return parts.filter(({ seen }, at) => at === 0 || seen.startedAt < end)
}

/** A run that began after another had ended moves with its end; those that overlap do not depend on each other. */
export function shiftAll(parts: readonly Part[], by: number): void {
  const ended = [...parts.entries()]
    .filter(([, { recordedEnd }]) => recordedEnd !== undefined)
    .sort(([, a], [, b]) => (a.recordedEnd as number) - (b.recordedEnd as number))
  let next = 0
  let before: Part | undefined
  // the parts are in the order of their starts, so each end is passed once
  for (const [at, part] of parts.entries()) {
    for (;;) {
      const [index, earlier] = ended[next] ?? []
      if (earlier === undefined || (index as number) >= at) break
      if ((earlier.recordedEnd as number) > part.seen.startedAt) break
      before = earlier
      next++
    }
    part.shift = before === undefined ? by : before.shift + laterBy(before)
    shiftAgents(part)
  }
}

const laterBy = ({ recordedEnd = 0, simulatedEnd = Number.POSITIVE_INFINITY }: Part): number =>
  simulatedEnd - recordedEnd

/** The turns of agents move with the bodies that they are in. */
function shiftAgents({ agents, result, shift }: Part): void {
  if (agents.length === 0) return
  const simulated = bodiesOf(result?.simulated.calls)
  for (const parts of byBody(agents)) {
    const [first] = parts
    const body = bodyAround(first as Part)
    const now = body && simulated.get(first?.parent?.call ?? '')?.[body.attempt]
    shiftAll(parts, shift + (body === undefined || now === undefined ? 0 : toMicros(now) - body.visit.from))
  }
}

/** When the bodies of each call began, one for each attempt. */
function bodiesOf(calls: readonly CallTimes[] = []): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, readonly number[]>()
  for (const { id, phases } of calls) {
    const bodies = phases.filter(({ phase }) => phase === 'calling').map(({ from }) => from)
    if (bodies.length > 0 && !found.has(id)) found.set(id, bodies)
  }
  return found
}

/** The recorded body that a run of an agent began in, and which attempt of its call that is. */
function bodyAround({ parent, seen }: Part): { readonly visit: Visit; readonly attempt: number } | undefined {
  const visits = parent?.branch.seen.byId.get(parent.call)?.visits ?? []
  const bodies = visits.filter(({ phase }) => phase === 'calling')
  const attempt = bodies.findLastIndex(({ from }) => from <= seen.startedAt)
  const visit = bodies[attempt]
  return visit && { visit, attempt }
}

/** The runs of agents by the body that they are in, in the same order. */
function byBody(agents: readonly Part[]): Iterable<readonly Part[]> {
  const found = new Map<unknown, Part[]>()
  for (const part of agents) {
    const body = bodyAround(part)?.visit ?? part.parent?.call
    const known = found.get(body)
    if (known === undefined) found.set(body, [part])
    else known.push(part)
  }
  return found.values()
}
