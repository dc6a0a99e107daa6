import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, allowAllTools, type QueryOptions, query, type ToolResultBlock } from '../../src/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { testQuery } from '../support/query.ts'
import { flush } from '../support/turn.ts'

const named = (name: string): AnyTool => ({
  name,
  inputSchema: z.object({}),
  call: async () => ({ data: `${name} did it` }),
})

/** The tools that the model got, turn by turn, and the results. */
async function run(tools: () => readonly AnyTool[], context: QueryOptions['context'] = {}) {
  const scripted = scriptedModel([[{ call: 'A', input: {} }], [{ call: 'B', input: {} }], 'Done.'])
  const told: string[][] = []
  const results: string[] = []
  const messages = query({
    messages: 'Go.',
    tools,
    context,
    canUseTool: allowAllTools,
    model: (request) => {
      told.push(request.tools.map(({ name }) => name))
      return scripted(request)
    },
  })
  for await (const message of messages) {
    if (message.type === 'user') results.push(String((message.message.content as ToolResultBlock[])[0]?.content))
  }
  return { told, results }
}

describe('tools that change between two turns', () => {
  it('L4 the model gets the current tools, and calls reach them', async () => {
    const tools: AnyTool[] = []
    const call = async () => {
      tools.push(named('B'))
      return { data: 'A did it' }
    }
    tools.push({ ...named('A'), call })
    const { told, results } = await run(() => tools)
    expect(told).toEqual([['A'], ['A', 'B'], ['A', 'B']])
    expect(results).toEqual(['A did it', 'B did it'])
  })

  it.each([
    [
      'a throw',
      () => {
        throw new Error('no')
      },
    ],
    ['two of one name', () => [named('A'), named('A')]],
    ['no list at all', () => undefined as never],
  ])('L4 %s during a query changes nothing', async (_what, broken) => {
    let asked = 0
    const good = [named('A'), named('B')]
    const { told, results } = await run(() => (asked++ < 2 ? good : broken()))
    expect(told).toEqual([
      ['A', 'B'],
      ['A', 'B'],
      ['A', 'B'],
    ])
    expect(results).toEqual(['A did it', 'B did it'])
  })

  it('L4 invalid tools at the start throw at the host', () => {
    const model = scriptedModel(['Hi.'])
    expect(() => query({ messages: 'x', tools: () => [named('A'), named('A')], model })).toThrow(
      'Two tools are named "A"',
    )
    expect(() => query({ messages: 'x', tools: () => 7 as never, model })).toThrow('tools: expected an array of tools')
  })

  it('L4 a tool without matchesRule for a current rule with a specifier changes nothing either', async () => {
    const good = [named('A'), named('B')]
    let asked = 0
    const tools = () => (asked++ < 2 ? good : [...good, named('Mail')])
    const { told, results } = await run(tools, { permissions: { deny: ['Mail(@rival.example)'] } })
    expect(told.at(-1)).toEqual(['A', 'B'])
    expect(results).toEqual(['A did it', 'B did it'])
  })
  it('L4 L5 the host is asked once for the tools of another attempt', async () => {
    let asked = 0
    const tools = () => {
      asked++
      return [named('A')]
    }
    const { held, clock } = testQuery([], { tools, retry: { attempts: 1, backoffMs: 5 } })
    await flush()
    const before = asked
    held.fail(Object.assign(new Error('Overloaded'), { status: 529 }))
    await flush()
    clock.increment(5)
    await flush()
    expect([held.requests.length, asked - before]).toEqual([2, 1])
  })
})
