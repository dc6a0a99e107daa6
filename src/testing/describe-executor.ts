import { ConformanceBench, type MakeExecutor } from './conformance-bench.ts'
import { conformanceRules } from './conformance-rules.ts'

/** `describe` and `it` of Vitest, Jest or node:test. */
export interface TestFramework {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
}

/**
 * Registers the rules of an executor as tests, for replacements of the executor or parts of it.
 *
 * @example
 * describeExecutor((...args) => new MyExecutor(...args), { describe, it })
 */
export function describeExecutor(makeExecutor: MakeExecutor, { describe, it }: TestFramework): void {
  describe('an executor', () => {
    for (const [name, rule] of Object.entries(conformanceRules))
      it(name, () => rule(() => new ConformanceBench(makeExecutor)))
  })
}
