import fc from 'fast-check'
import { z } from 'zod'
import type { AnyTool, HookCallback, PermissionBehavior, PermissionMode } from '../../src/index.ts'
import { raise } from '../cases/support.ts'

/** How a tool matches the specifier of a rule. */
const manners = {
  plain: (matches: boolean): unknown => matches,
  later: (matches: boolean): unknown => Promise.resolve(matches),
  throws: (): unknown => raise(new TypeError('no idea')),
  rejects: (): unknown => Promise.reject(new TypeError('no idea')),
  mumbles: (): unknown => 'perhaps',
  mumblesLater: (): unknown => Promise.resolve({}),
  isSilent: (): unknown => undefined,
}
export type Manner = keyof typeof manners

const isClear = (manner: Manner): boolean => manner === 'plain' || manner === 'later'

const kinds = ['harmless', 'risky', 'odd'] as const
type Kind = (typeof kinds)[number]

/** The tools, and their names. */
export const callable = {
  Bash: 'Bash',
  Shell: 'Bash',
  Edit: 'Edit',
  mcp__files__read: 'mcp__files__read',
  mcp__files__write: 'mcp__files__write',
  mcp__files2__read: 'mcp__files2__read',
} as const
type ToolName = (typeof callable)[keyof typeof callable]

/** Each form of rule, and the tools that it matches. Written by hand, independent of the parser under test. */
const heads: readonly { text: string; covers: readonly ToolName[] }[] = [
  { text: 'Bash', covers: ['Bash'] },
  { text: 'Shell', covers: ['Bash'] },
  { text: 'Edit', covers: ['Edit'] },
  { text: 'mcp__files', covers: ['mcp__files__read', 'mcp__files__write'] },
  { text: 'mcp__files__*', covers: ['mcp__files__read', 'mcp__files__write'] },
  { text: 'mcp__files__write', covers: ['mcp__files__write'] },
  { text: 'mcp__files2', covers: ['mcp__files2__read'] },
]

export interface RuleOnTrial {
  readonly text: string
  readonly covers: readonly ToolName[]
  readonly kind: Kind | undefined
}

const kind = fc.constantFrom(...kinds)
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined })

const rule: fc.Arbitrary<RuleOnTrial> = fc
  .record({ head: fc.constantFrom(...heads), kind: maybe(kind) })
  .map((made) => ({
    covers: made.head.covers,
    kind: made.kind,
    text: made.kind === undefined ? made.head.text : `${made.head.text}(${made.kind})`,
  }))

const hook = fc.record({
  opinion: maybe(fc.constantFrom<PermissionBehavior>('allow', 'ask', 'deny')),
  rewrite: maybe(kind),
})

const host = fc.oneof(
  { weight: 6, arbitrary: fc.record({ behavior: fc.constant('allow' as const), rewrite: maybe(kind) }) },
  fc.constantFrom({ behavior: 'deny' as const }, { behavior: 'absent' as const }, { behavior: 'everything' as const }),
)

export const guardedTurn = fc.record({
  mode: fc.constantFrom<PermissionMode>('default', 'plan', 'acceptEdits', 'bypassPermissions', 'dontAsk'),
  deny: fc.array(rule, { maxLength: 3 }),
  ask: fc.array(rule, { maxLength: 2 }),
  allow: fc.array(rule, { maxLength: 3 }),
  hooks: fc.array(hook, { maxLength: 3 }),
  host,
  manner: fc.constantFrom<Manner>(...(Object.keys(manners) as Manner[])),
  calls: fc.array(fc.record({ name: fc.constantFrom(...(Object.keys(callable) as (keyof typeof callable)[])), kind }), {
    minLength: 1,
    maxLength: 5,
  }),
})

/** Whether a deny rule matches a call: if the tool cannot say, the stricter reading applies. */
export const forbids = (
  { covers, kind: wanted }: RuleOnTrial,
  tool: ToolName,
  given: unknown,
  manner: Manner,
): boolean => covers.includes(tool) && (wanted === undefined || !isClear(manner) || wanted === given)

/** Every tool records the inputs it ran with. */
export function toolsOnTrial(manner: Manner, ran: (tool: ToolName, input: Record<string, unknown>) => void): AnyTool[] {
  const names = [...new Set(Object.values(callable))]
  return names.map((name) => ({
    name,
    ...(name === 'Bash' && { aliases: ['Shell'] }),
    inputSchema: z.looseObject({ kind: z.string() }),
    isConcurrencySafe: ({ kind: given }) => given !== 'odd',
    isReadOnly: ({ kind: given }) => given === 'harmless',
    editsWorkspace: ({ kind: given }) => given === 'risky',
    matchesRule: (spec, { kind: given }) => manners[manner](spec === given) as boolean,
    call: async (input) => {
      ran(name, input)
      return { data: 'done' }
    },
  }))
}

export const hookOnTrial =
  ({ opinion, rewrite }: { opinion: PermissionBehavior | undefined; rewrite: Kind | undefined }): HookCallback =>
  async () => ({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      ...(opinion !== undefined && { permissionDecision: opinion }),
      ...(rewrite !== undefined && { updatedInput: { kind: rewrite } }),
    },
  })
