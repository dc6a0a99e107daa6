import type { Call, Run, Wait } from '../model/model.ts'
import { ended, inline, outcomeOf, whyWaiting } from '../words.ts'
import type { Say, Telling } from './narrator.ts'

export const name = (call: Call): string => `#${call.index + 1} ${call.label}`

export const list = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

const reachedWords: Readonly<Record<string, string>> = {
  notStarted: 'never starts and gets an error result',
  underWay: 'stops while it runs',
  cutShort: 'reports that it was cut short',
  returned: 'returns after the abort',
  finished: 'finishes despite the abort',
  abandoned: 'does not stop and is abandoned',
}

/** About calls that are just over. A result of their own is told when it is handed over. */
export function tellEndings(over: readonly Call[], say: Say): void {
  for (const call of over) {
    const { by, reached } = call.ending ?? {}
    if (by === 'abort') say('Y6', `${name(call)} ${reachedWords[reached ?? ''] ?? 'stops'}.`, call)
    else if (by === 'journal') say('D11', `${name(call)} does not run again: its result is in the log.`, call)
    else if (by === 'unknown')
      say('D12', `The outcome of ${name(call)} is unknown: it may or may not have taken effect.`, call)
  }
}

export interface Start {
  readonly call: Call
  readonly verb: 'starts' | 'goes on'
}

export function tellStarts(run: Run, starts: readonly Start[], say: Say): void {
  const isInBackground = [...run.background.values()].some(
    ({ status }) => status === 'running' || status === 'stopping',
  )
  for (const { call, verb } of starts) {
    const others = [...run.executing].filter((id) => id !== call.id).flatMap((id) => run.byId.get(id) ?? [])
    const what = `${name(call)} ${verb}`
    const beside = `${what} beside ${list(others.map(name))}`
    if (call.lane === 'exclusive') say('Q4', `${what} alone: it is unsafe.`, call)
    else if (others.length === 0)
      say('Q4', `${what}: ${isInBackground ? 'only background calls run' : 'nothing else runs'}.`, call)
    else if ([call, ...others].some(({ keys }) => keys !== undefined))
      say('K3', `${beside}: their resources do not conflict.`, call)
    else say('Q4', `${beside}: all are safe.`, call)
  }
}

/** The rule behind each reason to wait. */
const waitRules: Readonly<Record<string, string>> = {
  held: 'L2',
  exclusiveRunning: 'Q4',
  behindUnsafe: 'Q5',
  waitsForRunning: 'Q4',
  full: 'Q4',
  resource: 'K3',
}

const maxNamed = 12

export function tellWaits(run: Run, changed: readonly Call[], say: Say): void {
  const together = new Map<string, { wait: Wait; calls: Call[] }>()
  for (const call of changed) {
    const { wait } = call
    if (wait === undefined) continue
    const key = `${wait.because} ${wait.blockers.join()}`
    const group = together.get(key)
    if (group === undefined) together.set(key, { wait, calls: [call] })
    else group.calls.push(call)
  }
  for (const { wait, calls } of together.values()) {
    const rule = Object.hasOwn(waitRules, wait.because) ? waitRules[wait.because] : undefined
    if (rule === undefined) continue
    const [first] = calls
    const named =
      calls.length > maxNamed
        ? `${calls.slice(0, maxNamed).map(name).join(', ')} and ${calls.length - maxNamed} more`
        : list(calls.map(name))
    say(rule, `${named}${calls.length === 1 ? '' : ': each'} ${whyWaiting(run, wait)}.`, first)
  }
}

export function tellHeld(run: Run, changed: readonly Call[], say: Say): void {
  const next = run.calls[run.cursor.next]
  for (const call of changed) {
    if (call.stage !== 'completed' || next === undefined || call === next || next.stage === 'completed') continue
    const how = call.startedAt === undefined ? 'answered' : 'finished'
    say('Y1', `${name(call)} is ${how} but held: ${name(next)} comes first.`, call)
  }
}

/** A result is told when it is known: its frame follows the one that hands it over. */
export function tellYields(run: Run, telling: Telling, changed: readonly Call[], say: Say): void {
  const yielded = [...telling.yielding, ...changed.filter(({ stage }) => stage === 'yielded')]
  if (yielded.length === 0) return
  const isKnown = (call: Call): boolean =>
    !run.isWatched || call.yieldedAt === call.addedAt || call.results.some(({ message }) => message === 'tool_result')
  telling.yielding = yielded.filter((call) => !isKnown(call))
  // the note of a background call is told with it
  const left = yielded.filter((call) => isKnown(call) && call.ending?.by !== 'background')
  const named = left.map((call) => {
    const outcome = outcomeOf(call)
    if (outcome === 'ok') return name(call)
    return `${name(call)} (${outcome === 'unknown' ? 'outcome unknown' : 'an error'})`
  })
  const [first] = left
  const problem = left.length === 1 && first !== undefined ? problemOf(first) : undefined
  if (first === undefined) return
  if (left.length > 1) say('Y1', `The results of ${list(named)} are handed over, in order.`, first)
  else if (problem === undefined) say('Y1', `The result of ${named[0]} is handed over.`, first)
  else say('Y1', `The result of ${name(first)} is handed over. It is an error: ${ended(problem)}`, first)
}

/** An error that no other sentence has told. */
function problemOf({ results, failures, ending }: Call): string | undefined {
  const result = results.find(({ message, isError }) => message === 'tool_result' && isError)
  if (result === undefined || failures.length > 0 || ending?.by === 'abort' || ending?.by === 'unknown')
    return undefined
  return inline(result.content, 200).replace(/<\/?tool_use_error>/g, '')
}
