import { givenUp, whyWaiting, whyWaitingForKey, whyWaitingForWorker } from 'signalbox/inspect'
import { duration, plural } from './amounts.ts'
import { type CallView, nameOf, type Phase, phaseOf } from './call-view.ts'
import { cleanLine } from './clean-text.ts'
import { resultText } from './plain-text.ts'
import type { SessionView } from './session-view.ts'

export type Tone = 'waits' | 'works' | 'asks' | 'held' | 'ok' | 'error' | 'stopped'

/** The status of a call in a few words; changes only when the call does. */
export interface CallStatus {
  readonly phase: Phase
  readonly tone: Tone
  readonly words: string
}

const phaseWords: Partial<Record<Phase, string>> = {
  recovering: 'finding out what became of it',
  validating: 'checking input',
  preHooks: 'running hooks',
  deciding: 'checking permission',
  asking: 'waits for your answer',
  later: 'waits for a later answer',
  journaling: 'recording that it starts',
  calling: 'runs',
  retrying: 'failed, retrying soon',
  postHooks: 'running hooks on the result',
  formatting: 'formatting the result',
  stopping: 'stopping',
}

export function callStatus(call: CallView, session: SessionView): CallStatus {
  const phase = phaseOf(call)
  if (phase === 'queued') return { phase, tone: 'waits', words: whyQueued(call, session) }
  if (phase === 'heldForOrder') return { phase, tone: 'held', words: whyHeld(call, session) }
  if (phase === 'delivered') return { phase, ...outcome(call) }
  if (phase === 'discarded' && session.isSuspended) return { phase, tone: 'waits', words: 'kept for later' }
  if (phase === 'discarded') return { phase, tone: 'stopped', words: givenUp.long }
  if (phase === 'locking') return { phase, tone: 'waits', words: whyLocked(call) }
  if (phase === 'calling' && call.place?.place === 'sent') {
    return { phase, tone: 'waits', words: whyWaitingForWorker(call.place) }
  }
  const server = phase === 'calling' ? session.serverFor(call) : undefined
  if (server !== undefined) return { phase, tone: 'works', words: server.words }
  return { phase, tone: phase === 'asking' ? 'asks' : 'works', words: phaseWords[phase] ?? phase }
}

/** The executor's reason why a call does not run, in the same words as the inspector's page. */
function whyQueued(call: CallView, session: SessionView): string {
  const wait = session.waitOf(call)
  if (wait === undefined) return 'queued'
  const nameIn = (id: string): string | undefined => {
    const other = session.find(id, call.run)
    return other && nameOf(other)
  }
  const [maxConcurrency, isInQuery] = [session.limitOf(call), session.isInQuery(call)]
  return cleanLine(whyWaiting(wait, { maxConcurrency, isInQuery, nameOf: nameIn }))
}

/** The key of other runs that a call waits for, and who holds it. */
const whyLocked = ({ lockWait }: CallView): string =>
  lockWait === undefined ? 'waits for keys that another run holds' : cleanLine(whyWaitingForKey(lockWait))

/** Why a finished call has not been delivered. */
function whyHeld(call: CallView, session: SessionView): string {
  const first = session.heldFor(call)
  const how = call.ending?.by === 'abort' ? 'stopped' : 'done'
  if (first === undefined) return how
  const still = phaseOf(first) === 'asking' ? 'is waiting for your answer' : 'is not finished'
  return `${how}, held for order: ${nameOf(first)} ${still}`
}

function outcome(call: CallView): Omit<CallStatus, 'phase'> {
  if (call.ending?.by === 'abort') return { tone: 'stopped', words: whyStopped(call) }
  if (call.ending?.by === 'background') return { tone: 'held', words: 'goes on in the background' }
  if (call.ending?.by === 'unknown') return { tone: 'error', words: 'outcome unknown' }
  const { ranAt, completedAt, result } = call
  const took = ranAt === undefined ? '' : duration((completedAt ?? ranAt) - ranAt)
  // the log does not say whether its body ran in an earlier process
  if (result?.isError === true && call.ending?.by === 'journal') return { tone: 'error', words: 'failed' }
  if (result?.isError === true) return { tone: 'error', words: took === '' ? 'did not run' : `failed after ${took}` }
  return { tone: 'ok', words: [took, summary(call)].filter((part) => part !== '').join(', ') }
}

const stops: Readonly<Record<string, string>> = {
  sibling_error: 'stopped: a call beside it failed',
  user_interrupted: 'stopped by you',
  timeout: 'stopped: timeout',
}

function whyStopped({ ending, stoppedBy, ranAt }: CallView): string {
  const { kind = null, reached = null } = ending ?? {}
  const failed = stoppedBy === undefined ? undefined : `stopped: ${cleanLine(stoppedBy)} failed`
  const because = failed ?? stops[kind ?? ''] ?? 'stopped'
  if (reached === 'notStarted' || ranAt === undefined) return `${because}; it never ran`
  return reached === 'abandoned' ? `${because}; it did not stop in time` : because
}

/** If the result itself is not shown, its size. */
function summary({ name, result }: CallView): string {
  if (name !== 'Read' || result === undefined) return ''
  return plural(resultText(result.content).trimEnd().split('\n').length, 'line')
}
