import type { Recovery } from '../../machines/index.ts'
import { classifyModelError, isRetryable, type ModelErrorKind } from '../models/classify-model-error.ts'
import { retryAfterMs, shouldRetry } from '../models/retry-after.ts'
import type { ModelRetry } from './options.ts'

const firstBackoffMs = 500
const longestBackoffMs = 30_000
/** If a service asks for a longer delay, there is no retry. */
const longestDelayMs = 120_000
/** The longest delay that timers support. */
const maxDelay = 2 ** 31 - 1

export interface RecoveryPlan {
  readonly recovery: Recovery
  readonly delayMs: number
  readonly kind: ModelErrorKind | 'refusal'
}

/** The plan after a failure: the same model again, the fallback model, or the end. */
export function planRecovery(
  error: unknown,
  { failures, canFallBack, retry }: { failures: number; canFallBack: boolean; retry: ModelRetry | undefined },
): RecoveryPlan {
  const kind = classifyModelError(error)
  const advice = shouldRetry(error)
  if (advice !== true && !isRetryable(kind)) return { recovery: 'none', delayMs: 0, kind }
  const { attempts = 2 } = retry ?? {}
  const wished = retryAfterMs(error)
  if (advice !== false && failures <= attempts && (wished ?? 0) <= longestDelayMs) {
    return { recovery: 'retry', delayMs: wished ?? backoffOf(retry, failures), kind }
  }
  return { recovery: canFallBack ? 'fallBack' : 'none', delayMs: 0, kind }
}

function backoffOf(retry: ModelRetry | undefined, failures: number): number {
  const usual = Math.min(firstBackoffMs * 2 ** (failures - 1), longestBackoffMs)
  const { backoffMs } = retry ?? {}
  if (typeof backoffMs !== 'function') return Math.min(backoffMs ?? usual, maxDelay)
  try {
    const given = backoffMs(failures)
    return given >= 0 ? Math.min(given, maxDelay) : usual
  } catch {
    return usual
  }
}
