import { z } from 'zod'
import type {
  AnyTool,
  CanUseTool,
  HookCallback,
  PermissionBehavior,
  PermissionMode,
  PermissionSettings,
  PermissionVerdict,
} from '../../src/index.ts'
import type { Voices } from './reference-decision.ts'

const opinions = [undefined, 'allow', 'ask', 'deny'] as const satisfies (PermissionBehavior | undefined)[]
const modes = ['default', 'plan', 'acceptEdits', 'bypassPermissions', 'dontAsk'] as const satisfies PermissionMode[]
const hosts = ['allow', 'deny', undefined] as const
const switches = [true, false] as const

/** The settings of a whole run, and of one call in it. */
export type RunVoices = Pick<Voices, 'mode' | 'host'> & { readonly ruled: readonly PermissionBehavior[] }
export type CallVoices = Omit<Voices, 'mode' | 'host' | 'rules'>

export const everyRun: readonly RunVoices[] = modes.flatMap((mode) =>
  hosts.flatMap((host) =>
    switches.flatMap((denied) =>
      switches.flatMap((asked) =>
        switches.map((allowed) => ({
          mode,
          host,
          ruled: [
            ...(denied ? (['deny'] as const) : []),
            ...(asked ? (['ask'] as const) : []),
            ...(allowed ? (['allow'] as const) : []),
          ],
        })),
      ),
    ),
  ),
)

export const everyCall: readonly CallVoices[] = [...opinions, 'defer' as const].flatMap((hook) =>
  opinions.flatMap((tool) =>
    switches.flatMap((isReadOnly) => switches.map((editsWorkspace) => ({ hook, tool, isReadOnly, editsWorkspace }))),
  ),
)

export const wordsOf = (run: RunVoices, call: CallVoices): string => JSON.stringify({ ...run, ...call })

/** A tool as one combination describes it, which records each run of its body. */
export function voicedTool(name: string, { tool, isReadOnly, editsWorkspace }: CallVoices, ran: string[]): AnyTool {
  return {
    name,
    inputSchema: z.looseObject({}),
    isConcurrencySafe: () => true,
    isReadOnly: () => isReadOnly,
    editsWorkspace: () => editsWorkspace,
    // every other call matches rules asynchronously
    matchesRule: (spec, input) => (isReadOnly ? spec === input.kind : Promise.resolve(spec === input.kind)),
    ...(tool !== undefined && { checkPermissions: () => ({ behavior: tool, message: 'said by the tool' }) }),
    call: async (_input, { toolUseID }) => {
      ran.push(toolUseID)
      return { data: 'done' }
    },
  }
}

/** A hook that returns a decision, or nothing. */
export const voicedHook =
  (opinionOn: (toolName: string) => PermissionVerdict | undefined): HookCallback =>
  async ({ tool_name }) => {
    const permissionDecision = opinionOn(tool_name)
    if (permissionDecision === undefined) return {}
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision } }
  }

export const voicedHost = (answer: Voices['host'], asked: string[]): CanUseTool | undefined =>
  answer === undefined
    ? undefined
    : (_tool, _input, _context, _message, id) => {
        asked.push(id)
        return answer === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message: 'said by the host' }
      }

/** The same rules in each list of a combination; `idle` rules, which match nothing, in every list. */
export const settingsOf = (
  { mode, ruled }: RunVoices,
  rules: readonly string[],
  idle: readonly string[] = [],
): PermissionSettings => ({
  mode,
  deny: [...idle, ...(ruled.includes('deny') ? rules : [])],
  ask: [...idle, ...(ruled.includes('ask') ? rules : [])],
  allow: [...idle, ...(ruled.includes('allow') ? rules : [])],
})

export const rulesOf = ({ ruled }: RunVoices, rule: string): Voices['rules'] =>
  Object.fromEntries(ruled.map((behavior) => [behavior, rule]))
