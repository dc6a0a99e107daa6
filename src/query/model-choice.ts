import type { Recovery } from '../../machines/index.ts'
import { classifyModelError, isRetryable, type ModelErrorKind } from '../models/classify-model-error.ts'
import type { Model } from '../models/model.ts'
import { retryAfterMs, shouldRetry } from '../models/retry-after.ts'
import type { ModelRetry, QueryOptions } from './options.ts'

const firstBackoffMs = 500
const longestBackoffMs = 30_000
/** If a service asks for a longer delay, there is no retry. */
const longestDelayMs = 120_000
/** The longest delay that timers support. */
const maxDelay = 2 ** 31 - 1

interface RecoveryPlan {
  readonly recovery: Recovery
  readonly delayMs: number
  readonly kind: ModelErrorKind | 'refusal'
}

/** The model that a query asks, and the plan after a failure. */
export class ModelChoice {
  readonly #options: Pick<QueryOptions, 'fallbackModel' | 'retry'>
  #model: Model
  #failures = 0
  #plan: RecoveryPlan | undefined

  constructor(options: Pick<QueryOptions, 'model' | 'fallbackModel' | 'retry'>) {
    this.#options = options
    this.#model = options.model
  }

  get model(): Model {
    return this.#model
  }

  /** The fallback model is asked, for the rest of the query. */
  get isFallback(): boolean {
    return this.#model === this.#options.fallbackModel
  }

  failed(error: unknown): RecoveryPlan {
    const { fallbackModel, retry } = this.#options
    const canFallBack = fallbackModel !== undefined && this.#model !== fallbackModel
    this.#plan = planRecovery(error, { failures: ++this.#failures, canFallBack, retry })
    return this.#plan
  }

  /** The model refused. Asking the same model again would not help. */
  refused(): 'fallBack' | 'none' {
    const { fallbackModel } = this.#options
    if (fallbackModel === undefined || this.#model === fallbackModel) return 'none'
    this.#plan = { recovery: 'fallBack', delayMs: 0, kind: 'refusal' }
    return 'fallBack'
  }

  succeeded(): void {
    this.#failures = 0
  }

  fallBack(): void {
    this.#model = this.#options.fallbackModel ?? this.#model
    this.#failures = 0
  }

  /** The plan after the last failure; undefined if the service restarted its reply by itself. */
  takePlan(): RecoveryPlan | undefined {
    const plan = this.#plan
    this.#plan = undefined
    return plan
  }
}

/** The plan after a failure: the same model again, the fallback model, or the end. */
function planRecovery(
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
