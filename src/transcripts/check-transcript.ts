import { mendTranscript } from './mend-transcript.ts'
import type { TranscriptProblem } from './transcript-problem.ts'

export type TranscriptCheck = { readonly ok: true } | { readonly ok: false; readonly problems: TranscriptProblem[] }

/**
 * Checks whether the Messages API accepts this transcript. Each call must be followed by its result, each result needs a
 * call, and no message may be empty. Messages of Signalbox are checked as `toApiMessages` sends them, messages of the API
 * (`{ role, content }`) as they are. Never throws because of the array's contents.
 */
export function checkTranscript(messages: readonly unknown[]): TranscriptCheck {
  const { changes } = mendTranscript(messages)
  if (changes.length === 0) return { ok: true }
  return { ok: false, problems: changes.map(({ done: _done, newToolUseID: _newID, ...problem }) => problem) }
}
