import { type Admission, conflictOf, keysOf, LockClaim } from '../../machines/index.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { SharedLocks } from '../tool/locks.ts'
import type { ToolCall } from './tool-call.ts'

/** The state `locking` before the body: the call takes all its keys at once in the locks that executors share. */
export function takeLocks(call: ToolCall): void {
  const { locks } = call.executor
  if (locks === undefined || !call.isIn('locking')) return
  const granted = (): void => call.tell({ type: 'locks.granted' })
  // an agent may work for hours: only its inner calls take keys
  if (call.tool?.isAgent === true) return granted()
  locks.book.take(lockOf(call, locks), keysOf(call), {
    granted,
    refused: (holders) => {
      const description = resultTexts.waitsInCircle(holders.map(({ name }) => name))
      call.tell({ type: 'call.abort', cause: { kind: 'withdrawn', reason: 'withdrawn', description } })
    },
  })
}

export function lockOf(call: ToolCall, locks: SharedLocks): LockClaim {
  call.lock ??= new LockClaim(call.id, call.tool?.name ?? call.name, locks.outer, locks.session)
  return call.lock
}

export function releaseLocks({ lock, executor }: ToolCall): void {
  if (lock !== undefined) executor.locks?.book.release(lock)
}

/** Whom the call waits for in the state `locking`. */
export function explainLocks({ lock, executor: { locks } }: ToolCall): Admission | undefined {
  if (lock?.state !== 'waiting' || locks === undefined) return undefined
  const claims = locks.book.holdersBefore(lock)
  const [first] = claims
  return {
    ok: false,
    because: 'resource',
    blockers: claims.map(({ id }) => id),
    key: first && conflictOf(lock.keys, first.keys),
    holders: claims.map(({ id, name, session, outer, state }) => ({
      toolUseID: id,
      toolName: name,
      ...(session !== undefined && { session }),
      ...(outer !== undefined && { agent: outer.name }),
      ...(state === 'waiting' && { isWaiting: true as const }),
    })),
  }
}
