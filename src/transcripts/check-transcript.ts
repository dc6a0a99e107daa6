import { mendTranscript } from './mend-transcript.ts'
import type { TranscriptProblem } from './transcript-problem.ts'

export type TranscriptCheck = { readonly ok: true } | { readonly ok: false; readonly problems: TranscriptProblem[] }

/**
 * Would the Messages API take this transcript? Each call has to be followed by its result, no result may be without
 * its call, and no message may be empty. Messages of Signalbox are judged as `toApiMessages` sends them, those of the
 * API (`{ role, content }`) as they are. Never throws for what is in the array.
 */
export function checkTranscript(messages: readonly unknown[]): TranscriptCheck {
  const { changes } = mendTranscript(messages)
  if (changes.length === 0) return { ok: true }
  return { ok: false, problems: changes.map(({ done: _done, newToolUseID: _newID, ...problem }) => problem) }
}
