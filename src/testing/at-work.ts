import type { CallEvidence } from './turn-evidence.ts'

/** Executing, and not waiting for a later answer. */
export const mayBeAtWork = ({ phase }: CallEvidence): boolean =>
  phase.startsWith('executing') && phase !== 'executing.permission.later'

/** Also excludes a call that has just asked: unless the answer is immediate, it does not use a slot. */
export const isAtWork = (call: CallEvidence): boolean =>
  mayBeAtWork(call) && call.phase !== 'executing.permission.asking'
