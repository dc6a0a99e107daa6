import type { Frame } from '../inspect/index.ts'
import type { Invariant } from './invariant.ts'
import { type RecordedBreach, RecordingChecks } from './recording-checks.ts'
import type { TurnEvidence } from './turn-evidence.ts'

/**
 * Checks invariants on each run of a recording. Returns the breaches, each with the frame after which it first appeared.
 * Facts that only a live watch knows (sleeping readers, undelivered progress) are assumed to be correct.
 */
export function checkRecording(frames: Iterable<Frame>, invariants?: readonly Invariant[]): RecordedBreach[] {
  const checks = new RecordingChecks(invariants)
  for (const frame of frames) checks.see(frame)
  return checks.breaches()
}

/** The evidence that a recording contains, by run. */
export function evidenceOf(frames: Iterable<Frame>): Map<number, TurnEvidence> {
  const checks = new RecordingChecks([])
  for (const frame of frames) checks.see(frame)
  return checks.evidence()
}
