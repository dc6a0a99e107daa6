import type { PermissionSettings } from '../permission/permission-settings.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { HeldBody } from './held-bodies.ts'
import type { HeldPhases } from './held-phases.ts'
import { firstOf, type Invariant } from './invariant.ts'
import type { CallEvidence } from './turn-evidence.ts'

/** A world's knowledge of the pipeline of its calls. */
export interface RoadView {
  readonly bodies: ReadonlyMap<string, HeldBody>
  readonly phases: Pick<HeldPhases, 'agreed' | 'allowed'>
  readonly plannedInput: (id: string) => unknown
  readonly toolOf: (call: CallEvidence) => AnyTool | undefined
  /** Set only if the host is held; other questions are not visible here. */
  readonly rules: PermissionSettings | undefined
  readonly modified: readonly string[]
}

const isOverIn = ({ phase }: CallEvidence): boolean => phase === 'completed' || phase === 'yielded'

/** Checks rules, changed inputs and changed contexts from the outside, without using the executor's own code. */
export function roadInvariants({ bodies, phases, plannedInput, toolOf, rules, modified }: RoadView): Invariant[] {
  return [
    {
      // P4
      name: 'a body gets what was agreed on',
      check: ({ calls }) =>
        firstOf(calls, (call) => {
          const body = bodies.get(call.id)
          if (body === undefined) return undefined
          const agreed = phases.agreed.get(call.id) ?? plannedInput(call.id)
          const parsed = toolOf(call)?.inputSchema.safeParse(agreed)
          const wanted = JSON.stringify(parsed?.success === true ? parsed.data : agreed)
          const got = JSON.stringify(body.input)
          return got === wanted ? undefined : `${call.id}: expected input ${wanted}, received ${got}`
        }),
    },
    {
      // P1, P5
      name: 'rules are kept',
      check: ({ calls }) =>
        firstOf(calls, ({ id, name, starts }) => {
          if (starts.length === 0) return undefined
          if (rules?.deny?.includes(name) === true) return `a rule denies ${name}, but ${id} ran`
          return rules?.ask?.includes(name) === true && !phases.allowed.has(id)
            ? `a rule asks for ${name}, but ${id} ran without the host's permission`
            : undefined
        }),
    },
    {
      // Y7
      name: 'the context changes in order',
      check({ calls, run }) {
        const twice = modified.find((id, at) => modified.indexOf(id) !== at)
        if (twice !== undefined) return `${twice} changed the context twice`
        const order = modified.map((id) => calls.findIndex((call) => call.id === id))
        if (order.some((at, n) => n > 0 && at < (order[n - 1] ?? 0)))
          return `the context was changed out of order: ${modified.join(', ')}`
        const open = calls.findIndex((call) => !isOverIn(call))
        const settled = open < 0 ? calls : calls.slice(0, open)
        const early = modified.find((id) => !settled.some((call) => call.id === id))
        if (early !== undefined) return `${early} changed the context before the calls before it were completed`
        if (run === 'discarded') return undefined
        return firstOf(settled, ({ id, ending }) => {
          const body = bodies.get(id)
          const isDue = body?.modifies === true && body.outcome?.wasTold === false && ending?.by === 'result'
          return isDue && !modified.includes(id) ? `the context modifier of ${id} was not applied` : undefined
        })
      },
    },
  ]
}
