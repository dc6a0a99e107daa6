import { givenUp } from '../../../src/inspect/index.ts'
import type { Call, Run } from '../model/model.ts'
import { backgroundTone, duration, isFromLog, outcomeOf, type Tone } from '../words.ts'

interface CallState {
  readonly words: string
  readonly tone: Tone | undefined
}

/** The state of a call in a word or two; with a tone where it needs attention. */
export function callState(run: Run, call: Call): CallState {
  if (run.questions.some((asked) => asked.call === call.id)) return { words: 'asks you', tone: 'held' }
  if (call.isGivenUp) return { words: givenUp.short, tone: 'given-up' }
  if (call.stage === 'queued' || call.stage === 'held') return { words: waitWords(run, call), tone: undefined }
  if (call.stage === 'executing') return { words: 'runs', tone: call.lane }
  const spent = call.startedAt === undefined ? undefined : (call.completedAt ?? call.yieldedAt ?? 0) - call.startedAt
  const took = spent === undefined || spent < 0 ? '' : duration(spent)
  if (call.detached !== undefined) return inBackground(call, call.detached)
  const outcome = outcomeOf(call)
  if (outcome === 'unknown') return { words: 'outcome unknown', tone: 'unknown' }
  if (outcome === 'aborted') return { words: 'stopped', tone: 'aborted' }
  if (outcome === 'error') return { words: call.decision?.behavior === 'deny' ? 'denied' : 'error', tone: 'error' }
  if (call.stage === 'completed') return { words: 'held for order', tone: undefined }
  if (isFromLog(call)) return { words: 'from the log', tone: undefined }
  const tries = call.failures.length
  return { words: tries === 0 ? took : `${took}, retried ${tries}×`, tone: undefined }
}

/** The note that the model got is not its outcome. */
function inBackground(call: Call, { id, from, to, status }: NonNullable<Call['detached']>): CallState {
  const isOver = status === 'finished' && to !== undefined
  if (isOver) return { words: `${id}, ${duration(to - (call.startedAt ?? from))}`, tone: undefined }
  const words = status === 'running' ? 'runs' : status === 'finished' ? 'finished' : status
  return { words: `${id} ${words}`, tone: backgroundTone(call, status) }
}

function waitWords(run: Run, { wait }: Call): string {
  const blocker = wait?.blockers[0]
  const known = blocker === undefined ? undefined : run.byId.get(blocker)
  return known === undefined ? 'waits' : `waits for #${known.index + 1}`
}
