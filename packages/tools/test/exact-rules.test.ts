import { type AnyTool, type CanUseTool, createAssistantMessage, StreamingToolExecutor } from 'signalbox'
import { expect, it } from 'vitest'
import { defaultTools } from '../src/index.ts'
import { scratch } from './bench.ts'

it.each<[string, Record<string, unknown>, string | undefined]>([
  ['Bash', { command: 'npm test' }, 'Bash(npm test)'],
  ['Bash', { command: 'cd src && npm run "a b"' }, "Bash(cd src && npm run a' 'b)"],
  ['Bash', { command: 'rm *' }, 'Bash(rm \\*)'],
  ['Bash', { command: 'echo $(rm x)' }, undefined],
  ['Bash', { command: 'npm test > out.txt' }, undefined],
  ['Write', { file_path: 'a[1].txt', content: '' }, 'Write(a\\[1\\].txt)'],
  ['Write', { file_path: '.git/config', content: '' }, undefined],
  ['WebFetch', { url: 'https://docs.example.com/x' }, 'WebFetch(url:https://docs.example.com/x)'],
])('the question about %s %j offers the rule %j, which prevents the next one', async (name, input, rule) => {
  // nothing really runs
  const call = async () => ({ data: 'ran' })
  const tools = defaultTools({ root: scratch() }).map(({ mapResult: _, ...tool }): AnyTool => ({ ...tool, call }))
  const ask = async (allow: string[]): Promise<(string | undefined)[]> => {
    const offered: (string | undefined)[] = []
    const permissions = { allow }
    const canUseTool = (...[, , , , , question]: Parameters<CanUseTool>) => {
      offered.push(question?.rule)
      return { behavior: 'deny', message: 'not now' } as const
    }
    const executor = new StreamingToolExecutor(tools, canUseTool, { permissions })
    executor.addTool({ type: 'tool_use', id: 'a', name, input }, createAssistantMessage([]))
    for await (const _ of executor.getRemainingResults());
    return offered
  }
  expect(await ask([])).toEqual([rule])
  if (rule !== undefined) expect(await ask([rule])).toEqual([])
})
