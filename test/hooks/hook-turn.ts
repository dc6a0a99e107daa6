import { expect } from 'vitest'
import type {
  Attachment,
  HookCallback,
  HookEvent,
  HookOutput,
  Hooks,
  StopHookSummary,
  StreamingToolExecutor,
  SystemMessage,
} from '../../src/index.ts'
import { type Outcome, outcomeOf } from '../cases/support.ts'
import { type HeldTool, type HeldToolOptions, heldTool } from '../support/held-tool.ts'
import { flush, isResult, type TestTurn, takeAll, testTurn } from '../support/turn.ts'

type Specific = Omit<NonNullable<HookOutput['hookSpecificOutput']>, 'hookEventName'>

/** A hook that always returns the same. */
export const says =
  (specific: Specific, rest: HookOutput = {}, hookEventName: HookEvent = 'PreToolUse'): HookCallback =>
  async () => ({ ...rest, hookSpecificOutput: { hookEventName, ...specific } })

/** A hook that returns what the types forbid. */
export const rough = (hook: (...args: Parameters<HookCallback>) => unknown): HookCallback => hook as HookCallback

/** Gives a hook the name for messages. */
export const named = (name: string, hook: HookCallback): HookCallback =>
  Object.defineProperty(hook, 'name', { value: name })

export const preHooks = (...hooks: HookCallback[]): Hooks => ({ PreToolUse: [{ hooks }] })
export const postHooks = (...hooks: HookCallback[]): Hooks => ({ PostToolUse: [{ hooks }] })
export const failureHooks = (...hooks: HookCallback[]): Hooks => ({ PostToolUseFailure: [{ hooks }] })

/** A turn with one held tool, `Tool`, and these hooks around it. */
export function hookTurn(
  hooks: Hooks,
  options: Parameters<typeof testTurn>[1] & { tool?: HeldToolOptions } = {},
): TestTurn & { tool: HeldTool } {
  const { tool: toolOptions, context, ...rest } = options
  const tool = heldTool('Tool', toolOptions)
  return { ...testTurn([tool.tool], { ...rest, context: { ...context, hooks } }), tool }
}

export interface Told {
  readonly results: Outcome[]
  readonly attachments: Attachment[]
  readonly notes: SystemMessage[]
  readonly summary: StopHookSummary | undefined
  /** Every message in order: `result`, the type of an attachment, or the subtype of a note. */
  readonly order: string[]
}

/** Everything that is ready after everything that can run has run. */
export async function told(executor: StreamingToolExecutor): Promise<Told> {
  await flush()
  const updates = takeAll(executor)
  const messages = updates.map(({ message }) => message)
  const notes = messages.filter((message) => message.type === 'system')
  return {
    results: updates.filter(isResult).map(outcomeOf),
    attachments: messages.flatMap((message) => (message.type === 'attachment' ? [message.attachment] : [])),
    notes,
    summary: notes.find((note): note is StopHookSummary => note.subtype === 'stop_hook_summary'),
    order: messages.map((message) =>
      message.type === 'attachment'
        ? message.attachment.type
        : message.type === 'system'
          ? message.subtype
          : message.type === 'user'
            ? 'result'
            : message.type,
    ),
  }
}

/** The messages of a turn with one call. In any case there is one result, and it comes first. */
export async function toldOfOne(executor: StreamingToolExecutor): Promise<Told & { result: Outcome }> {
  const all = await told(executor)
  expect(all.results).toHaveLength(1)
  expect(all.order.filter((kind) => kind !== 'progress')[0]).toBe('result')
  return { ...all, result: all.results[0] as Outcome }
}
