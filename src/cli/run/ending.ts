import type { QueryResult } from '../../index.ts'
import { exitCode } from '../exit-code.ts'
import { isOver } from '../view/call-view.ts'
import { duration, plural } from '../view/duration.ts'
import type { SessionView } from '../view/session-view.ts'

/** How a run came to its end. */
export interface SessionEnding {
  readonly reason: QueryResult['reason']
  readonly stopReason: string | undefined
  readonly exitCode: number
  readonly turns: number
  readonly calls: number
  readonly ms: number
  readonly error?: string
  /** A sentence for people. */
  readonly words: string
}

interface Surroundings {
  readonly session: SessionView
  /** How many replies the model came to the end of. */
  readonly turns: number
  readonly isTerminated: boolean
  readonly now: () => number
  readonly transcript?: { readonly path: string } | undefined
  readonly recording?: { readonly path: string } | undefined
}

export function endingOf(result: QueryResult, around: Surroundings): SessionEnding {
  const { session, turns, now, transcript, recording } = around
  const calls = session.items.filter((item) => item.kind === 'call' && isOver(item)).length
  const ms = Math.round(now())
  const { reason, stopReason } = result
  const error = result.reason === 'model_error' ? errorText(result.error) : undefined
  const counts = `${plural(turns, 'turn')}, ${plural(calls, 'call')}, ${duration(ms)}`
  const files = [
    ...(transcript === undefined ? [] : [`transcript ${transcript.path}`]),
    ...(recording === undefined ? [] : [`recording ${recording.path}`]),
  ]
  const words = `${reasonWords(result, error)} ${[counts, ...files].join(' · ')}`
  const code = codeOf(reason, around.isTerminated)
  return { reason, stopReason, exitCode: code, turns, calls, ms, ...(error !== undefined && { error }), words }
}

function codeOf(reason: QueryResult['reason'], isTerminated: boolean): number {
  if (reason === 'model_error') return exitCode.failed
  if (reason === 'max_turns') return exitCode.limitReached
  if (reason === 'aborted_streaming' || reason === 'aborted_tools') {
    return isTerminated ? exitCode.terminated : exitCode.interrupted
  }
  return exitCode.done
}

function reasonWords({ reason, stopReason }: QueryResult, error: string | undefined): string {
  if (reason === 'model_error') return `The model failed: ${error}`
  if (reason === 'max_turns') return 'Ended by --max-turns:'
  if (reason === 'hook_stopped') return 'Ended by a hook:'
  if (reason !== 'completed') return 'Interrupted:'
  return stopReason === undefined || stopReason === 'end_turn' ? 'Done:' : `Done (${stopReason}):`
}

function errorText(error: unknown): string {
  const { status, message } = Object(error) as { status?: unknown; message?: unknown }
  const text = typeof message === 'string' ? message : String(error)
  if (status === 401 || status === 403) return `${text} – is ANTHROPIC_API_KEY right?`
  return status === 404 ? `${text} – is there a model of that name? See --model.` : text
}
