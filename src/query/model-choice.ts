import type { Model } from '../models/model.ts'
import type { QueryOptions } from './options.ts'
import { planRecovery, type RecoveryPlan } from './recovery.ts'

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
