import { whyWaitingForKey } from '../../../src/inspect/index.ts'
import { plainText } from '../plain-text.ts'
import type { Call, Model, Run } from './model.ts'

export interface LockWait {
  readonly words: string
  readonly since: number
  /** Those of the calls in its way that are in this recording. */
  readonly holders: readonly { readonly run: Run; readonly call: Call }[]
}

/** A running call that waits for a key which calls of other runs use too. */
export function lockWaitOf({ runs }: Model, { lockWait, stage }: Call): LockWait | undefined {
  if (lockWait === undefined || stage !== 'executing') return undefined
  const holders = lockWait.holders.flatMap(({ call: id }) => {
    for (const run of runs.values()) {
      const call = run.byId.get(id)
      if (call?.stage === 'executing') return [{ run, call }]
    }
    return []
  })
  return { words: plainText(whyWaitingForKey(lockWait)), since: lockWait.at, holders }
}
