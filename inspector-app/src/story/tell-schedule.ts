import type { Call, Run, Wait } from '../model/model.ts'
import { outcomeOf, whyWaiting } from '../words.ts'
import type { Say } from './narrator.ts'

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

export function tellEndings(changed: readonly Call[], say: Say): void {
  for (const call of changed) {
    if (call.stage !== 'completed' && call.stage !== 'yielded') continue
    if (call.ending?.by !== 'abort') continue
    say('Y6', `${name(call)} ${reachedWords[call.ending.reached ?? ''] ?? 'stops'}.`, call)
  }
}

export function tellStarts(run: Run, changed: readonly Call[], say: Say): void {
  const started = changed.filter(({ stage }) => stage === 'executing')
  for (const call of started) {
    const others = [...run.executing].filter((id) => id !== call.id).flatMap((id) => run.byId.get(id) ?? [])
    if (call.lane === 'exclusive') say('Q4', `${name(call)} starts alone: it is unsafe.`, call)
    else if (others.length === 0) say('Q4', `${name(call)} starts: nothing else runs.`, call)
    else say('Q4', `${name(call)} starts beside ${list(others.map(name))}: all are safe.`, call)
  }
}

/** The rule behind each reason to wait. */
const waitRules: Readonly<Record<string, string>> = {
  held: 'L2',
  exclusiveRunning: 'Q4',
  behindUnsafe: 'Q5',
  waitsForRunning: 'Q4',
  full: 'Q4',
  resource: 'Q4',
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
    say('Y1', `${name(call)} is finished but held: ${name(next)} comes first.`, call)
  }
}

export function tellYields(changed: readonly Call[], say: Say): void {
  const left = changed.filter(({ stage }) => stage === 'yielded')
  const named = left.map((call) => (outcomeOf(call) === 'ok' ? name(call) : `${name(call)} (an error)`))
  if (left.length === 1) say('Y1', `The result of ${named[0]} is handed over.`, left[0])
  else if (left.length > 1) say('Y1', `The results of ${list(named)} are handed over, in order.`, left[0])
}
