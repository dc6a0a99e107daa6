import type { CallPair } from './align-calls.ts'
import type { SeenCall, Visit } from './seen-call.ts'

/** The first difference between two runs of a call, with the value of each. */
export interface Difference {
  readonly what: 'call' | 'input' | 'mark' | 'start' | 'order' | 'phase' | 'permission' | 'outcome'
  readonly a: string
  readonly b: string
}

/** Compares in the order in which things happen to a call. */
export function differenceOf({ a, b }: CallPair, places?: readonly [a: number, b: number]): Difference | undefined {
  if (a === undefined || b === undefined) {
    return {
      what: 'call',
      a: a === undefined ? 'not requested' : 'requested',
      b: b === undefined ? 'not requested' : 'requested',
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

/** Formatting a result decides nothing. */
const decisive = ({ visits }: SeenCall): Visit[] => visits.filter(({ phase }) => phase !== 'formatting')

function pathParting(a: readonly Visit[], b: readonly Visit[]): Difference | undefined {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [here, there] = [a[at], b[at]]
    const phase = differ('phase', here?.phase ?? 'over', there?.phase ?? 'over')
    if (phase !== undefined) return phase
    const isPermission = here?.phase === 'deciding' || here?.phase === 'asking' || here?.phase === 'later'
    const left = differ(isPermission ? 'permission' : 'phase', wayOut(here), wayOut(there))
    if (left !== undefined) return left
  }
  return undefined
}

const differ = (what: Difference['what'], a: string, b: string): Difference | undefined =>
  a === b ? undefined : { what, a, b }

/** How it left a phase. */
function wayOut(visit: Visit | undefined): string {
  if (visit === undefined) return 'over'
  const { answer, phase, to } = visit
  if (answer === undefined) return to === undefined ? `${phase}, not finished` : `${phase}, until it was stopped`
  return answer.next === 'queued' ? `${answer.event}, back to the queue as unsafe` : answer.event
}

const placeOf = (place = 0): string => `start ${place + 1}`
const markOf = ({ isSafe, isHeld }: SeenCall): string => `${isSafe ? 'safe' : 'unsafe'}${isHeld ? ', held' : ''}`
const startOf = ({ startedAt }: SeenCall): string => (startedAt === undefined ? 'never started' : 'started')

function outcomeOf({ ending, results, endedAt, visits }: SeenCall): string {
  if (endedAt === undefined) return 'not finished'
  if (ending?.by === 'abort') return `stopped: ${ending.kind}`
  const { cancelsSiblings, stopsTurn } = visits.at(-1)?.answer ?? {}
  const effect =
    cancelsSiblings !== undefined && cancelsSiblings !== false
      ? ', stops the others'
      : stopsTurn === true
        ? ', stops the turn'
        : ''
  return `${results.some(({ isError }) => isError) ? 'an error' : 'a result'}${effect}`
}
