import { describe, expect, it } from 'vitest'
import { query, toolSchemas } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/query/scripted/index.ts'
import { createTools, defaultTools } from '../src/index.ts'
import { runTool, scratch } from './bench.ts'

describe('the set', () => {
  it('has the tools, each with its class', () => {
    const tools = createTools({ root: scratch(), agent: { model: scriptedModel([]) } }).tools
    const samples: Record<string, Record<string, unknown>> = { Bash: { command: 'npm test' } }
    const classes = tools.map((tool) => [tool.name, tool.isConcurrencySafe?.(samples[tool.name] ?? {}) ?? false])
    expect(Object.fromEntries(classes)).toEqual({
      Read: true,
      Write: false,
      Edit: false,
      Glob: true,
      Grep: true,
      Bash: false,
      WebFetch: true,
      WebSearch: true,
      TaskCreate: false,
      TaskUpdate: false,
      TaskList: true,
      BackgroundList: true,
      BackgroundOutput: true,
      BackgroundStop: true,
      Agent: false,
    })
    expect(toolSchemas(tools).every(({ description }) => (description ?? '').length > 20)).toBe(true)
  })

  it('leaves out disabled tools, and names an unknown option', () => {
    const names = defaultTools({ root: scratch(), shell: false, webFetch: false }).map(({ name }) => name)
    expect(names).not.toContain('Bash')
    expect(names).not.toContain('WebFetch')
    expect(names).not.toContain('Agent')
    expect(() => createTools({ root: '.', roots: [] } as never)).toThrow(/Unknown option roots/)
    expect(() => createTools({ root: '/not/there' })).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })

  it('keeps a list of tasks', async () => {
    const { tools, taskBoard } = createTools({ root: scratch() })
    expect((await runTool(tools, 'TaskList', {})).text).toBe('No tasks.')
    await runTool(tools, 'TaskCreate', { subject: 'Mend the roof' })
    await runTool(tools, 'TaskCreate', { subject: 'Paint', description: 'the door' })
    expect((await runTool(tools, 'TaskUpdate', { id: '1', status: 'completed' })).text).toBe(
      '1. [completed] Mend the roof',
    )
    expect((await runTool(tools, 'TaskList', {})).text).toBe(
      '1. [completed] Mend the roof\n2. [pending] Paint: the door',
    )
    expect((await runTool(tools, 'TaskUpdate', { id: '9', status: 'completed' })).text).toContain('Unknown task 9')
    expect(taskBoard.tasks).toHaveLength(2)
  })

  it('has an agent that works with the same files and reports', async () => {
    const root = scratch({ 'a.txt': 'the answer is 42\n' })
    const model = scriptedModel([[{ call: 'Read', input: { file_path: 'a.txt' } }], ['It is 42.']])
    const { tools } = createTools({ root, agent: { model, maxTurns: 5 } })
    const { text, progress } = await runTool(tools, 'Agent', { prompt: 'What is the answer?' })
    expect(text).toBe('It is 42.')
    expect(JSON.stringify(progress)).toContain('the answer is 42')
  })

  it('works in a query', async () => {
    const root = scratch()
    const model = scriptedModel([
      [
        { call: 'Write', input: { file_path: 'a.txt', content: 'one\n' } },
        { call: 'Edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } },
        { call: 'Bash', input: { command: 'cat a.txt' } },
      ],
      ['done'],
    ])
    const run = query({
      messages: 'go',
      tools: defaultTools({ root }),
      model,
      canUseTool: async () => ({ behavior: 'allow' }),
    })
    for await (const _ of run);
    expect(JSON.stringify(run.transcript)).toContain('"content":"two"')
  })
})
