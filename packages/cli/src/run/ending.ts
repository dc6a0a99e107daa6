import type { QueryResult, Session } from 'signalbox'
import { exitCode } from '../exit-code.ts'
import { duration, plural } from '../view/amounts.ts'
import { isOver } from '../view/call-view.ts'
import type { SessionView } from '../view/session-view.ts'
import { type TokenUsage, usageWords } from './usage-count.ts'

/** How a run ended. */
export interface SessionEnding {
  readonly reason: QueryResult['reason']
  readonly stopReason: string | undefined
  readonly exitCode: number
  readonly turns: number
  readonly calls: number
  readonly ms: number
  readonly error?: string
  readonly usage?: TokenUsage
  /** The id of a session that is kept in a journal. */
  readonly session?: string
  /** Ids of its open questions, if it is suspended. */
  readonly questions?: readonly string[]
  /** A sentence for people. */
  readonly words: string
}

interface Surroundings {
  readonly session: SessionView
  /** Number of complete replies. */
  readonly turns: number
  readonly isTerminated: boolean
  readonly now: () => number
  readonly usage?: TokenUsage | undefined
  readonly transcript?: { readonly path: string } | undefined
  readonly recording?: { readonly path: string } | undefined
  readonly stored?: Pick<Session, 'id' | 'questions'> | undefined
}

export function endingOf(result: QueryResult, around: Surroundings): SessionEnding {
  const { session, turns, now, usage, transcript, recording, stored } = around
  const calls = session.items.filter((item) => item.kind === 'call' && isOver(item)).length
  const ms = Math.round(now())
  const { reason, stopReason } = result
  const error = 'error' in result ? errorText(result.error) : undefined
  const counts = `${plural(turns, 'turn')}, ${plural(calls, 'call')}, ${duration(ms)}`
  const files = [
    ...(usage === undefined ? [] : [usageWords(usage)]),
    ...(stored === undefined ? [] : [`session ${stored.id}`]),
    ...(transcript === undefined ? [] : [`transcript ${transcript.path}`]),
    ...(recording === undefined ? [] : [`recording ${recording.path}`]),
  ]
  const words = `${reasonWords(result, error)} ${[counts, ...files].join(' · ')}`
  const code = codeOf(reason, around.isTerminated)
  return {
    reason,
    stopReason,
    exitCode: code,
    turns,
    calls,
    ms,
    ...(error !== undefined && { error }),
    ...(usage !== undefined && { usage }),
    ...(stored !== undefined && { session: stored.id }),
    ...(stored !== undefined && reason === 'suspended' && { questions: stored.questions().map(({ id }) => id) }),
    words,
  }
}

function codeOf(reason: QueryResult['reason'], isTerminated: boolean): number {
  if (reason === 'model_error' || reason === 'journal_error') return exitCode.failed
  if (reason === 'suspended') return exitCode.suspended
  if (reason === 'max_turns' || reason === 'limit') return exitCode.limitReached
  if (reason === 'aborted_streaming' || reason === 'aborted_tools') {
    return isTerminated ? exitCode.terminated : exitCode.interrupted
  }
  return exitCode.done
}

function reasonWords(result: QueryResult, error: string | undefined): string {
  const { reason, stopReason } = result
  if (reason === 'model_error') return `The model failed: ${error}`
  if (reason === 'journal_error') return `The journal failed: ${error}`
  if (reason === 'suspended') return 'Suspended:'
  if (reason === 'max_turns') return 'Stopped by --max-turns:'
  if (result.reason === 'limit') return `Stopped by the limit ${result.limit} (${result.used} of ${result.max}):`
  if (reason === 'hook_stopped') return 'Stopped by a hook:'
  if (reason !== 'completed') return 'Interrupted:'
  return stopReason === undefined || stopReason === 'end_turn' ? 'Done:' : `Done (${stopReason}):`
}

function errorText(error: unknown): string {
  const { status, message } = Object(error) as { status?: unknown; message?: unknown }
  const text = typeof message === 'string' ? message : String(error)
  if (status === 401 || status === 403) return `${text} – check ANTHROPIC_API_KEY.`
  return status === 404 ? `${text} – check the model name (--model).` : text
}
