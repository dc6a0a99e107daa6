import type { CanUseTool, HookCallback } from '../../src/index.ts'
import { lives, readAll, replyWith } from './durable-lives.ts'
import { heldTool } from './held-tool.ts'

/** A person answers later. */
export const later: CanUseTool = () => ({ behavior: 'later' })
export const nobody: CanUseTool = () => {
  throw new Error('canUseTool is asked')
}
const defer: HookCallback = async () => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' },
})
/** A hook defers every call. */
export const deferring = { hooks: { PreToolUse: [{ hooks: [defer] }] } }

/** A session whose model calls each of these tools, and whose host answers later. */
export async function askedSession(options: Parameters<typeof lives>[1] = {}, names: string[] = ['Pay']) {
  const tools = names.map((name) => heldTool(name))
  const world = lives(
    tools.map(({ tool }) => tool),
    { canUseTool: later, ...options },
  )
  const first = await world.begin()
  const seen = readAll(first.session.send('pay'))
  await replyWith(first, ...names.map((name) => [name.toLowerCase(), name] as const))
  return { ...world, tools, first, seen }
}
