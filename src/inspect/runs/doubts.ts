import type { Rerun } from './rerun.ts'
import type { ScriptedCall } from './scripted-call.ts'
import type { SeenRun } from './seen-run.ts'

/** What speaks against a simulated run, in sentences. */
export function doubtsOf(seen: SeenRun, unchanged: Rerun, changed: Rerun): string[] {
  const odd = unchanged.calls.filter((call) => !isAsRecorded(call))
  const begun = changed.calls.filter(({ way, seen }) => way.startedAt !== undefined && seen.startedAt === undefined)
  const endless = changed.calls.filter(({ way, seen }) => way.endedAt === undefined && seen.endedAt !== undefined)
  const unseen = changed.calls.filter(({ way, seen }) => way.endedAt === undefined && seen.endedAt === undefined)
  const doubts: [readonly ScriptedCall[], (names: string) => string][] = [
    [
      odd,
      (names) => `Even unchanged, the charts do not do what was recorded: ${names}. The rest is not to be relied on.`,
    ],
    [begun, (names) => `The recording does not hold what these calls would do, because they never ran: ${names}.`],
    [endless, (names) => `These calls, or some that they wait for, have no end in the recording: ${names}.`],
    [unseen, (names) => `These calls have not ended in the recording either: ${names}.`],
  ]
  const late = 'The recorder came late: what was there already counts as having come with it.'
  return [
    ...(seen.isLate ? [late] : []),
    ...doubts.filter(([calls]) => calls.length > 0).map(([calls, say]) => say(namesOf(calls))),
  ]
}

/** The test of truth: with nothing changed, the charts have to do the same again. */
export function isAsRecorded({ seen, way }: ScriptedCall): boolean {
  const { startedAt, endedAt, yieldedAt, visits } = way
  if (startedAt !== seen.startedAt || endedAt !== seen.endedAt || yieldedAt !== seen.yieldedAt) return false
  if (visits.length !== seen.visits.length) return false
  return visits.every(({ phase, from, to }, index) => {
    const visit = seen.visits[index]
    return visit?.phase === phase && visit.from === from && visit.to === to
  })
}

function namesOf(calls: readonly ScriptedCall[], most = 3): string {
  const names = calls.slice(0, most).map(({ seen }) => seen.label)
  return calls.length > most ? `${names.join(', ')} and ${calls.length - most} more` : names.join(', ')
}
