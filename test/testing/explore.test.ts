import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/index.ts'
import {
  type ExploreOptions,
  exploreTurn,
  type Hold,
  heldTool,
  replayTurn,
  turnInvariants,
} from '../../src/testing/index.ts'

const tools = [
  heldTool('Read', { safe: true }).tool,
  heldTool('Edit').tool,
  heldTool('Search', { safe: true, cancel: true }).tool,
  heldTool('Bash', { safe: true, cancelsSiblingsOnError: true }).tool,
]

const nothingElse = { interrupt: false, progress: false, reader: false, reading: false, time: false } as const

const numbered = defineTool({
  name: 'Count',
  inputSchema: z.object({ n: z.number() }),
  call: async () => ({ data: '' }),
})

describe('exploring a turn', () => {
  it.each<[string, ExploreOptions, number]>([
    ['one call, and everything that can happen to it', { tools, calls: [{ tool: 'Search' }] }, 80],
    ['one call with all its phases', { tools, calls: [{ tool: 'Bash' }], phases: 'all' }, 150],
    [
      'two calls with all their phases, an abort, a discard and a failure everywhere',
      {
        tools,
        calls: [{ tool: 'Read' }, { tool: 'Edit' }],
        phases: 'all',
        arrival: 'together',
        happenings: nothingElse,
      },
      300,
    ],
    [
      'three calls that arrive while others run',
      {
        tools,
        calls: [{ tool: 'Bash' }, { tool: 'Edit' }, { tool: 'Search' }],
        happenings: { progress: false, reader: false, reading: false },
      },
      300,
    ],
  ])('Q4 Q5 Q6 Y1 Y2 Y4 Y6 A1 A2 A3 A4 A5 A7 %s: nothing is wrong', async (_, options, atLeast) => {
    const explored = await exploreTurn({ ...options, maxMs: 200_000 })
    expect(explored.breach?.text).toBeUndefined()
    expect(explored).toMatchObject({ isComplete: true, endedBecause: 'complete' })
    expect(explored.states).toBeGreaterThan(atLeast)
    expect(explored.transitions).toBeGreaterThan(explored.states - 1)
    expect(explored.paths).toBeGreaterThan(0)
  })

  it.each<[string, ExploreOptions, string]>([
    [
      'a slip in the name of a tool',
      { tools, calls: [{ tool: 'Read' }, { tool: 'edit' }] },
      'Unknown tool edit. Did you mean Edit?',
    ],
    ['calls of which none would run', { tools, calls: [{ tool: 'Nowhere' }] }, 'No call would run'],
    ['no calls', { tools, calls: [] }, 'calls: expected at least one call'],
    [
      'a slip in a happening',
      { tools, calls: [{ tool: 'Read' }], happenings: { aborts: false } as object },
      'Unknown happening aborts',
    ],
    ['no options', undefined as never, 'options: expected an object, received undefined.'],
    ['a slip in an option', { tools, calls: [{ tool: 'Read' }], atend: () => 1 } as never, 'Unknown option atend.'],
    ['no list of calls', { tools } as never, 'calls: expected an array, received undefined.'],
    ['tools that are none', { tools: 5, calls: [] } as never, 'tools: expected an array of tools, or a function'],
    [
      'a phase that does not exist',
      { tools, calls: [], phases: 'some' } as never,
      "phases: expected 'bodies' or 'all'",
    ],
    [
      'a budget of nothing',
      { tools, calls: [], maxStates: -1 },
      'maxStates: expected an integer of at least 1, received -1.',
    ],
    [
      'inputs that no schema takes',
      { tools: [numbered], calls: [{ tool: 'Count', input: { n: 'x' } }, { tool: 'Count' }] },
      'No call would run, because no input matches the schema of its tool. Count:',
    ],
  ])('rejects %s, because an exploration in which nothing happens proves nothing', async (_, options, problem) => {
    await expect(exploreTurn(options)).rejects.toThrow(problem)
  })

  it('throws if tools wait for something that the story does not control', async () => {
    let stories = 0
    const flaky = (hold: Hold) => {
      const isFirst = stories++ < 4
      return [
        defineTool({
          name: 'Flaky',
          inputSchema: z.object({}),
          call: async () => {
            await hold(isFirst ? 'it is early' : 'it is late')
            return { data: 'done' }
          },
        }),
      ]
    }
    const calls = [{ tool: 'Flaky' }]
    await expect(exploreTurn({ tools: flaky, calls, state: () => stories })).rejects.toThrow(
      'The replayed story took a different course',
    )
  })

  it('reports which budget was exhausted', async () => {
    let time = 0
    const byTime = await exploreTurn({ tools, calls: [{ tool: 'Read' }], maxMs: 10, now: () => time++ })
    expect(byTime).toMatchObject({ isComplete: false, endedBecause: 'maxMs', breach: undefined })
    const byStates = await exploreTurn({ tools, calls: [{ tool: 'Read' }], maxStates: 10 })
    expect(byStates).toMatchObject({ states: 10, isComplete: false, endedBecause: 'maxStates' })
    expect(byStates.report).toContain('incomplete (maxStates reached)')
    expect(byStates.report).toContain(`No breach in any story of up to ${byStates.wholeDepth} moves`)
    expect(byStates.wholeDepth).toBeLessThan(byStates.depth)
    expect(byStates.wholeDepth).toBeGreaterThan(0)
  })

  it('finds a breach of a custom invariant, with the shortest story and a test to paste', async () => {
    const wish = {
      name: 'b never overtakes a',
      check: ({ calls: [a, b] }: Parameters<(typeof turnInvariants)[number]['check']>[0]) =>
        b?.completedAt !== undefined && a?.completedAt === undefined ? 'b did' : undefined,
    }
    const setup = { tools, calls: [{ tool: 'Read' }, { tool: 'Read' }, { tool: 'Edit' }] }
    const { breach } = await exploreTurn({ ...setup, invariants: [...turnInvariants, wish] })
    expect(breach?.story).toEqual(['a arrives', 'b arrives', 'b finishes'])
    expect(breach?.text).toBe(
      'b never overtakes a: b did\n   a = Read({})\n   b = Read({})\n 1. a arrives\n 2. b arrives\n 3. b finishes',
    )
    expect(breach?.test).toContain(
      "await replayTurn(setup, [\n    'a arrives',\n    'b arrives',\n    'b finishes',\n  ])",
    )
    const again = replayTurn({ ...setup, invariants: [wish] }, breach?.story ?? [])
    await expect(again).rejects.toThrow('b never overtakes a: b did')
    await replayTurn(setup, breach?.story ?? [])
  })

  describe('with real bodies', () => {
    const world = (isConcurrencySafe: boolean) => {
      let text = ''
      return {
        tools: (hold: Hold) => {
          text = 'x'
          const edit = defineTool({
            name: 'Edit',
            inputSchema: z.object({ add: z.string() }),
            isConcurrencySafe: () => isConcurrencySafe,
            call: async ({ add }) => {
              const before = text
              await hold(`${add} is written`)
              text = before + add
              return { data: 'edited' }
            },
          })
          return [edit]
        },
        calls: ['1', '2'].map((add) => ({ tool: 'Edit', input: { add } })),
        happenings: { abort: false, interrupt: false, discard: false, reader: false },
        state: () => text,
        atEnd: () => {
          if (text !== 'x12') throw new Error(`an edit was lost: ${text}`)
        },
      }
    }

    it('finds an edit tool that was wrongly marked safe', async () => {
      const { breach } = await exploreTurn(world(true))
      expect(breach?.breaches).toEqual([{ invariant: 'at the end', problem: 'an edit was lost: x2' }])
      expect(breach?.story).toEqual(['a arrives', 'b arrives', '1 is written', '2 is written', 'results are taken'])
    })

    it('finds nothing once the tool is unsafe', async () => {
      expect(await exploreTurn(world(false))).toMatchObject({ breach: undefined, isComplete: true })
    })
  })

  it('throws if a body does real work', async () => {
    const real = defineTool({
      name: 'Load',
      inputSchema: z.object({}),
      call: async () => ({ data: await readFile(import.meta.filename, 'utf8') }),
    })
    const explored = exploreTurn({
      tools: () => [real],
      calls: [{ tool: 'Load' }],
      happenings: { ...nothingElse, abort: false, discard: false },
    })
    await expect(explored).rejects.toThrow('may wait only for hold()')
  })

  it('finds a turn that never ends', async () => {
    const hung = (hold: Hold) => [
      {
        ...heldTool('Read', { safe: true }).tool,
        call: () => hold('never').then(() => new Promise<never>(() => undefined)),
      },
    ]
    const happenings = { abort: false, interrupt: false, discard: false }
    const { breach } = await exploreTurn({ tools: hung, calls: [{ tool: 'Read' }], happenings })
    expect(breach?.breaches[0]).toMatchObject({ invariant: 'every turn ends' })
  })
})
