import { SimulatedClock } from 'xstate'
import {
  type AnyTool,
  type ApiMessage,
  allowAllTools,
  type Message,
  type Query,
  type QueryMessage,
  type QueryOptions,
  type QueryResult,
  query,
  toApiMessages,
} from '../../src/index.ts'
import { type HeldModel, heldModel } from './held-model.ts'

export interface TestQuery {
  readonly run: Query
  readonly held: HeldModel
  readonly clock: SimulatedClock
  /** Everything that has been yielded. */
  readonly seen: QueryMessage[]
  readonly result: Promise<QueryResult>
}

/** A query with a held model on a simulated clock, read by an eager reader. */
export function testQuery(tools: readonly AnyTool[], options: Partial<QueryOptions> = {}): TestQuery {
  const held = heldModel()
  const clock = new SimulatedClock()
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

/** The transcript in short: `user: go`, `assistant: call a Read`, `user: result a ok`. */
export const inShort = (messages: readonly Message[]): string[] => apiInShort(toApiMessages(messages))

export const apiInShort = (messages: readonly ApiMessage[]): string[] =>
  messages.flatMap(({ role, content }) =>
    (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block) => {
      const it = block as Record<string, unknown>
      if (it.type === 'text') return `${role}: ${it.text}`
      if (it.type === 'tool_use') return `${role}: call ${it.id} ${it.name} ${JSON.stringify(it.input)}`
      if (it.type === 'tool_result')
        return `${role}: result ${it.tool_use_id} ${it.is_error === true ? 'error' : it.content}`
      return `${role}: ${it.type}`
    }),
  )
