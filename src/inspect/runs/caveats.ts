import type { Rerun } from './rerun.ts'
import type { ScriptedCall } from './scripted-call.ts'
import type { SeenRun } from './seen-run.ts'

/** Reasons not to rely on a simulated run, as sentences. */
export function caveatsOf(seen: SeenRun, unchanged: Rerun, changed: Rerun): string[] {
  const odd = unchanged.calls.filter((call) => !isAsRecorded(call))
  const begun = changed.calls.filter(({ way, seen }) => way.startedAt !== undefined && seen.startedAt === undefined)
  const endless = changed.calls.filter(({ way, seen }) => way.endedAt === undefined && seen.endedAt !== undefined)
  const unseen = changed.calls.filter(({ way, seen }) => way.endedAt === undefined && seen.endedAt === undefined)
  const reclassified = changed.calls.filter(({ wasSafe, seen }) => wasSafe !== seen.isSafe)
  const caveats: [readonly ScriptedCall[], (names: string) => string][] = [
    [
      odd,
      (names) =>
        `Even without changes, the simulation differs from the recording: ${names}. Do not rely on the other times.`,
    ],
    [begun, (names) => `These calls never ran in the recording, so their durations are unknown: ${names}.`],
    [endless, (names) => `These calls, or calls that they wait for, do not end in the recording: ${names}.`],
    [
      seen.isInQuery ? reclassified : [],
      (names) =>
        `Unless their tools have startWhen, these calls would start at another moment of the model's stream: ${names}.`,
    ],
    [unseen, (names) => `These calls do not end in the recording either: ${names}.`],
  ]
  const late = 'The recorder attached late: calls that already existed count as added at that moment.'
  return [
    ...(seen.isLate ? [late] : []),
    ...caveats.filter(([calls]) => calls.length > 0).map(([calls, say]) => say(namesOf(calls))),
  ]
}

/** Without changes, the charts must repeat the recording. */
function isAsRecorded({ seen, way }: ScriptedCall): boolean {
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
