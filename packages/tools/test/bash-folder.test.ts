import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  allowAllTools,
  createAssistantMessage,
  StreamingToolExecutor,
  type ToolResultBlock,
  type ToolUseContext,
} from '../../../src/index.ts'
import { createTools } from '../src/index.ts'
import { runTool, scratch } from './bench.ts'
import { eventually } from './processes.ts'

function bashIn(files: Record<string, string>) {
  const root = scratch(files)
  const { tools, close } = createTools({ root })
  onTestFinished(close)
  const bash = async (command: string) => (await runTool(tools, 'Bash', { command })).text
  return { root, tools, bash }
}

/** The results of commands in one reply. */
async function reply(
  tools: ReturnType<typeof bashIn>['tools'],
  commands: readonly string[],
  context: Partial<ToolUseContext> = {},
): Promise<string[]> {
  const executor = new StreamingToolExecutor(tools, allowAllTools, context)
  const message = createAssistantMessage([])
  for (const [index, command] of commands.entries()) {
    executor.addTool({ type: 'tool_use', id: `call_${index}`, name: 'Bash', input: { command } }, message)
  }
  const texts: string[] = []
  for await (const { message: each } of executor.getRemainingResults()) {
    if (each.type === 'user') texts.push(String((each.message.content[0] as ToolResultBlock).content))
  }
  return texts
}

/** A hook that replaces the commands of the model. */
const rewriting = (changes: Readonly<Record<string, string>>): Partial<ToolUseContext> => ({
  hooks: {
    PreToolUse: [
      {
        hooks: [
          async (input) => {
            const { command } = (input as { tool_input: { command: string } }).tool_input
            const updatedInput = { command: changes[command] ?? command }
            return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput } }
          },
        ],
      },
    ],
  },
})

describe('commands of one reply', () => {
  it('run in the same folder as if they ran one after the other', async () => {
    const { root, tools, bash } = bashIn({ a: 'of the root', 'sub/a': 'of sub' })
    const texts = await reply(tools, ['cd sub && echo moved', `cd ${root} && cat a`, 'cat a'])
    expect(texts).toEqual(['moved', 'of the root', 'of the root'])
    expect(await reply(tools, ['cd sub', 'cat a', `cd ${root} && cat a`, 'cat a', 'cd sub && cat a', 'cat a'])).toEqual(
      ['(no output)', 'of sub', 'of the root', 'of the root', 'of sub', 'of sub'],
    )
    expect(await bash('pwd')).toBe(join(root, 'sub'))
  })

  it('use their own folder, even if an earlier command moved the shell after they were checked', async () => {
    const { root, tools } = bashIn({ 'sub/a': 'x' })
    const changes = { 'ls one': 'cd sub', 'ls two': `cd ${root} && touch made` }
    await reply(tools, ['ls one', 'ls two'], rewriting(changes))
    expect([existsSync(join(root, 'made')), existsSync(join(root, 'sub/made'))]).toEqual([true, false])
  })

  it('are denied by their words, whatever the folder was when they were checked', async () => {
    const { root, tools } = bashIn({ a: 'of the root', 'sub/a': 'x' })
    const permissions = { deny: [`Bash(cd ${root})`] }
    const changes = { 'ls one': 'cd sub', 'ls two': `cd ${root} && touch made` }
    const [, second] = await reply(tools, ['ls one', 'ls two'], { ...rewriting(changes), permissions })
    expect(second).toContain('denied')
    const [alone] = await reply(tools, [`cd ${root} && cat a`], { permissions })
    expect(alone).toContain('denied')
    expect(existsSync(join(root, 'made'))).toBe(false)
  })

  it('with a cd out of the workspace are not covered by a rule for the rest', async () => {
    const { tools } = bashIn({ a: 'x' })
    const permissions = { mode: 'dontAsk', allow: ['Bash(cat *)'] } as const
    expect((await reply(tools, ['cd .. && cat a'], { permissions }))[0]).not.toBe('x')
    expect((await reply(tools, ['cd . && cat a'], { permissions }))[0]).toBe('x')
  })
})

it('a command that did not move does not reset the folder when it ends', async () => {
  const { root, tools, bash } = bashIn({ 'sub/a': 'x' })
  await bash('mkfifo pipe')
  const reading = runTool(tools, 'Bash', { command: 'touch begun; cat pipe' })
  await eventually(() => existsSync(join(root, 'begun')))
  await bash('cd sub')
  await bash('echo read > ../pipe')
  expect((await reading).text).toBe('read')
  expect(await bash('pwd')).toBe(join(root, 'sub'))
})
