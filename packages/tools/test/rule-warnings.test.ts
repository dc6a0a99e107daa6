import { createAssistantMessage, StreamingToolExecutor } from 'signalbox'
import { expect, it } from 'vitest'
import { defaultTools } from '../src/index.ts'
import { scratch } from './bench.ts'

it('a rule that grants any program, or matches no tool, is reported once, however many turns check it', async () => {
  const tools = defaultTools({ root: scratch() })
  const permissions = { allow: ['Bash(node:*)', 'Bash(npm test)'], deny: ['Bsh(rm *)'] }
  const told: string[] = []
  for (let turn = 0; turn < 3; turn++) {
    const executor = new StreamingToolExecutor(tools, async () => ({ behavior: 'allow' }), { permissions })
    executor.on('warning', ({ code, message }) => code === 'rule_warning' && told.push(message))
    executor.addTool(
      { type: 'tool_use', id: `a${turn}`, name: 'Bash', input: { command: 'pwd' } },
      createAssistantMessage([]),
    )
    for await (const _ of executor.getRemainingResults());
  }
  expect(told.length).toBe(2)
  expect(told[0]).toContain('The rule "Bsh(rm *)" matches no tool, so it has no effect.')
  expect(told[1]).toContain('Bash(node:*) lets the model run any program')
})

it('a rule with the wrong case, or that can never match, is rejected when it is parsed', () => {
  const tools = defaultTools({ root: scratch() })
  const read = (rule: string) => () => new StreamingToolExecutor(tools, undefined, { permissions: { deny: [rule] } })
  expect(read('bash(ls:*)')).toThrow('names are case-sensitive. Write Bash.')
  expect(read("Bash(rm 'x)")).toThrow('never matches')
  expect(read('Bash(curl * | sh)')).toThrow('must name exactly one program')
  expect(read('Bash(rm *)')).not.toThrow()
})
