import type { Frame } from '../inspect/index.ts'
import type { Invariant } from './invariant.ts'
import { type RecordedBreach, RecordingChecks } from './recording-checks.ts'
import type { TurnEvidence } from './turn-evidence.ts'

/**
 * What does not hold of the turns in a recording, each run by itself, and after which frame it did not hold first. What
 * only a live watch can know (readers that sleep, progress that nobody got) is taken to hold.
 */
export function checkRecording(frames: Iterable<Frame>, invariants?: readonly Invariant[]): RecordedBreach[] {
  const checks = new RecordingChecks(invariants)
  for (const frame of frames) checks.see(frame)
  return checks.breaches()
}

/** What a recording shows of each of its runs. */
export function evidenceOf(frames: Iterable<Frame>): Map<number, TurnEvidence> {
  const checks = new RecordingChecks([])
  for (const frame of frames) checks.see(frame)
  return checks.evidence()
}
