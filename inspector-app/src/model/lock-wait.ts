import { whyWaitingForKey } from '../../../src/inspect/index.ts'
import { plainText } from '../plain-text.ts'
import type { Call, Model, Run } from './model.ts'

interface Holder {
  readonly run: Run
  readonly call: Call
}

export interface LockWait {
  readonly words: string
  readonly since: number
  /** Those of the calls in its way that are in this recording. */
  readonly holders: readonly Holder[]
}

/** A running call that waits for a key which calls of other runs use too. */
export function lockWaitOf(model: Model, { lockWait, stage }: Call): LockWait | undefined {
  if (lockWait === undefined || stage !== 'executing') return undefined
  const executing = executingCalls(model)
  const holders = lockWait.holders.flatMap(({ call }) => executing.get(call) ?? [])
  return { words: plainText(whyWaitingForKey(lockWait)), since: lockWait.at, holders }
}

const known = new WeakMap<Model, { readonly seq: number; readonly byId: ReadonlyMap<string, Holder> }>()

/** By id, once for each moment: a long conversation has thousands of runs, and each waiting call asks. */
function executingCalls(model: Model): ReadonlyMap<string, Holder> {
  const found = known.get(model)
  if (found?.seq === model.seq) return found.byId
  const byId = new Map<string, Holder>()
  for (const run of model.runs.values()) {
    for (const id of run.executing) {
      const call = run.byId.get(id)
      if (call !== undefined && !byId.has(id)) byId.set(id, { run, call })
    }
  }
  known.set(model, { seq: model.seq, byId })
  return byId
}
