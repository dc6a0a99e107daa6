import fc from 'fast-check'
import type { HookCallback, HookEvent, StreamingToolExecutor } from '../../src/index.ts'
import { never, raise } from '../cases/support.ts'

type Act = (event: HookEvent, executor: StreamingToolExecutor | undefined) => unknown

const specific = (fields: object) => (event: HookEvent) => ({ hookSpecificOutput: { hookEventName: event, ...fields } })

/** Everything that a hook of a random turn may do. */
const acts: Record<string, Act> = {
  saysNothing: () => undefined,
  allows: specific({ permissionDecision: 'allow' }),
  asks: specific({ permissionDecision: 'ask' }),
  denies: specific({ permissionDecision: 'deny', permissionDecisionReason: 'no' }),
  rewrites: specific({ updatedInput: { isSafe: true, rewritten: true } }),
  makesUnsafe: specific({ updatedInput: { isSafe: false } }),
  breaksInput: specific({ updatedInput: { isSafe: 'perhaps' } }),
  replaces: specific({ updatedToolOutput: { replaced: true } }),
  addsContext: (event) => ({ ...specific({ additionalContext: 'more' })(event), systemMessage: 'for you' }),
  stops: () => ({ continue: false, stopReason: 'enough' }),
  throws: () => raise(new Error('hook')),
  rejects: () => Promise.reject(new Error('hook')),
  mumbles: () => 'perhaps',
  hangs: never,
  answersLater: async (event) => specific({ permissionDecision: 'allow' })(event),
  aborts: (_event, executor) => void executor?.abort('from a hook'),
  interrupts: (_event, executor) => void executor?.abort('interrupt'),
}
type Deed = keyof typeof acts

const deeds = fc.array(fc.constantFrom<Deed>(...Object.keys(acts)), { maxLength: 3 })

const plan = fc.record({
  isSafe: fc.boolean(),
  PreToolUse: deeds,
  PostToolUse: deeds,
  PostToolUseFailure: deeds,
  body: fc.constantFrom('finishes', 'fails', 'failsForAll', 'isHeld', 'ignoresAbort'),
  host: fc.constantFrom('allows', 'denies', 'makesUnsafe', 'isHeld'),
})
export type Plan = typeof plan extends fc.Arbitrary<infer Made> ? Made : never

export const hookedTurn = fc.record({
  plans: fc.array(plan, { minLength: 1, maxLength: 5 }),
  moves: fc.array(fc.constantFrom('tick', 'wait', 'waitLong', 'finish', 'read', 'interrupt', 'abort'), {
    maxLength: 10,
  }),
})

/** The hooks of all calls in one: each call has its own plan, with one hook for each event. */
export function plannedHooks(
  planOf: (id: string) => Plan | undefined,
  event: HookEvent,
  turn: { executor?: StreamingToolExecutor },
  ran: string[],
): HookCallback[] {
  const places = [0, 1, 2]
  return places.map((place): HookCallback => {
    const hook = (_input: unknown, id = '') => {
      const deed = planOf(id)?.[event][place]
      if (deed === undefined) return {}
      ran.push(`${id} ${event} ${place}`)
      return acts[deed]?.(event, turn.executor)
    }
    return hook as HookCallback
  })
}
