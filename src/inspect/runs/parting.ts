import type { CallPair } from './align-calls.ts'
import type { SeenCall, Visit } from './seen-call.ts'

/** The first thing that two runs of a call do not have in common, as each of them has it. */
export interface Parting {
  readonly what: 'call' | 'input' | 'mark' | 'start' | 'order' | 'phase' | 'permission' | 'outcome'
  readonly a: string
  readonly b: string
}

/** Looked for in the order in which things happen to a call. */
export function partingOf({ a, b }: CallPair, places?: readonly [a: number, b: number]): Parting | undefined {
  if (a === undefined || b === undefined) {
    return {
      what: 'call',
      a: a === undefined ? 'not asked for' : 'asked for',
      b: b === undefined ? 'not asked for' : 'asked for',
    }
  }
  return (
    differ('input', JSON.stringify(a.input), JSON.stringify(b.input)) ??
    differ('mark', markOf(a), markOf(b)) ??
    differ('start', startOf(a), startOf(b)) ??
    differ('order', placeOf(places?.[0]), placeOf(places?.[1])) ??
    pathParting(decisive(a), decisive(b)) ??
    differ('outcome', outcomeOf(a), outcomeOf(b))
  )
}

/** Putting a result into words decides nothing. */
const decisive = ({ visits }: SeenCall): Visit[] => visits.filter(({ phase }) => phase !== 'formatting')

function pathParting(a: readonly Visit[], b: readonly Visit[]): Parting | undefined {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [here, there] = [a[at], b[at]]
    const phase = differ('phase', here?.phase ?? 'over', there?.phase ?? 'over')
    if (phase !== undefined) return phase
    const isPermission = here?.phase === 'deciding' || here?.phase === 'asking'
    const left = differ(isPermission ? 'permission' : 'phase', wayOut(here), wayOut(there))
    if (left !== undefined) return left
  }
  return undefined
}

const differ = (what: Parting['what'], a: string, b: string): Parting | undefined =>
  a === b ? undefined : { what, a, b }

/** How it left a phase. */
function wayOut(visit: Visit | undefined): string {
  if (visit === undefined) return 'over'
  const { answer, phase, to } = visit
  if (answer === undefined) return to === undefined ? `${phase}, without an end` : `${phase}, until it was stopped`
  return answer.next === 'queued' ? `${answer.event}, back to the line as unsafe` : answer.event
}

const placeOf = (place = 0): string => `start ${place + 1}`
const markOf = ({ isSafe, isHeld }: SeenCall): string => `${isSafe ? 'safe' : 'unsafe'}${isHeld ? ', held' : ''}`
const startOf = ({ startedAt }: SeenCall): string => (startedAt === undefined ? 'never started' : 'started')

function outcomeOf({ ending, results, endedAt, visits }: SeenCall): string {
  if (endedAt === undefined) return 'no end'
  if (ending?.by === 'abort') return `stopped: ${ending.kind}`
  const { cancelsSiblings, stopsTurn } = visits.at(-1)?.answer ?? {}
  const effect = cancelsSiblings === true ? ', stops the others' : stopsTurn === true ? ', stops the turn' : ''
  return `${results.some(({ isError }) => isError) ? 'an error' : 'a result'}${effect}`
}
