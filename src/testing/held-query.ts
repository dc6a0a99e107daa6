import {
  type AnyTool,
  allowAllTools,
  type Query,
  type QueryMessage,
  type QueryOptions,
  type QueryResult,
  query,
} from '../index.ts'
import { type HeldModel, heldModel } from './held-model.ts'
import { type SimulatedClock, simulatedClock } from './simulated-clock.ts'

export interface HeldQuery {
  readonly run: Query
  readonly held: HeldModel
  readonly clock: SimulatedClock
  /** Everything that has been yielded. */
  readonly seen: QueryMessage[]
  readonly result: Promise<QueryResult>
}

/** A query with a held model on a simulated clock, read by an eager reader. */
export function heldQuery(tools: readonly AnyTool[], options: Partial<QueryOptions> = {}): HeldQuery {
  const held = heldModel()
  const clock = simulatedClock()
  const run = query({
    messages: 'go',
    tools,
    model: held.model,
    canUseTool: allowAllTools,
    ...options,
    executor: { clock, ...options.executor },
  })
  const seen: QueryMessage[] = []
  const read = async (): Promise<QueryResult> => {
    for (;;) {
      const step = await run.next()
      if (step.done === true) return step.value
      seen.push(step.value)
    }
  }
  return { run, held, clock, seen, result: read() }
}
