import { describe, expect, it } from 'vitest'
import {
  type ExploreOptions,
  exploreTurn,
  heldTool,
  type Invariant,
  playTurn,
  replayTurn,
} from '../../src/testing/index.ts'

const tools = [
  heldTool('Read', { safe: true }).tool,
  heldTool('Edit').tool,
  // safe with the model's input, unsafe with a changed input
  heldTool('Query', { isConcurrencySafe: (input) => (input as { rewritten?: boolean }).rewritten !== true }).tool,
]
const nothingElse = {
  interrupt: false,
  abort: false,
  discard: false,
  progress: false,
  reader: false,
  reading: false,
  time: false,
  failure: false,
} as const

describe('exploring the phases of a call', () => {
  it.each<[string, ExploreOptions, number]>([
    [
      'P1 P5 rules that deny, ask and allow, with an abort everywhere',
      {
        tools,
        calls: [{ tool: 'Read' }, { tool: 'Edit' }],
        phases: 'all',
        arrival: 'together',
        context: { permissions: { deny: ['Edit'], ask: ['Read'] } },
        happenings: { ...nothingElse, abort: true, failure: true },
      },
      60,
    ],
    [
      'P4 Q6 inputs that hooks and the host change, so that a call becomes unsafe',
      {
        tools,
        calls: [{ tool: 'Query' }, { tool: 'Read' }],
        phases: 'all',
        arrival: 'together',
        happenings: { ...nothingElse, rewrite: true },
      },
      100,
    ],
    [
      'P8 hooks after a failure, and an abort while they run',
      {
        tools,
        calls: [{ tool: 'Edit' }],
        phases: 'all',
        happenings: { ...nothingElse, failure: true, abort: true, interrupt: true, time: true },
      },
      40,
    ],
    [
      'Y7 results that change the context, with failures, an abort and a discard everywhere',
      {
        tools,
        calls: [{ tool: 'Read' }, { tool: 'Read' }, { tool: 'Edit' }],
        arrival: 'together',
        happenings: { ...nothingElse, modifier: true, failure: true, abort: true, discard: true },
      },
      100,
    ],
  ])('%s: nothing is wrong', { timeout: 90_000 }, async (_, options, atLeast) => {
    const explored = await exploreTurn({ maxMs: 80_000, ...options })
    expect(explored.breach?.text).toBeUndefined()
    expect(explored.isComplete).toBe(true)
    expect(explored.states).toBeGreaterThan(atLeast)
  })

  const calls = [{ tool: 'Query', input: { of: 'a' } }, { tool: 'Edit' }]
  const road = ['a arrives', 'b arrives', 'a: input is accepted', 'a: hook before changes the input']

  it('P4 gives the body the input that the hook changed, and runs it alone', async () => {
    const setup = { tools, calls, phases: 'all' as const, happenings: { rewrite: true } }
    const story = [...road, 'a: input is accepted', 'a: hook before passes', 'a: host allows', 'a: input is accepted']
    const { world, breaches } = await playTurn(setup, story)
    expect(breaches).toEqual([])
    expect(world.bodies.byId.get('a')?.input ?? world.book.find('a')?.phase).toEqual({ of: 'a', rewritten: true })
    expect(world.executor.actor.getSnapshot().value).toMatchObject({ gate: 'exclusive' })
  })

  it('P4 accepts a custom function for the change, and finds a tool that fails with it', async () => {
    const query = heldTool('Query', { safe: true })
    const wish = {
      name: 'nobody is asked for',
      check: ({ calls: [a] }: Parameters<Invariant['check']>[0]) =>
        (a?.body as { input?: { of?: string } } | undefined)?.input?.of === 'nobody' ? 'somebody did' : undefined,
    }
    const { breach } = await exploreTurn({
      tools: [query.tool],
      calls: [{ tool: 'Query', input: { of: 'a' } }],
      phases: 'all',
      happenings: { ...nothingElse, rewrite: () => ({ of: 'nobody' }) },
      invariants: [wish],
    })
    expect(breach?.breaches).toEqual([{ invariant: 'nobody is asked for', problem: 'somebody did' }])
    expect(breach?.story.some((move) => move.endsWith('changes the input'))).toBe(true)
    expect(breach?.test).toContain('    happenings, // define this')
  })

  it('Y7 finds a context change that comes too early', async () => {
    const { world } = await playTurn({ tools, calls: [{ tool: 'Read' }, { tool: 'Read' }], arrival: 'together' }, [])
    world.modified.push('b')
    expect(world.breaches().map(({ invariant }) => invariant)).toEqual(['the context changes in order'])
  })

  it('P1 finds a breach of a permission rule', async () => {
    const setup = { tools, calls: [{ tool: 'Edit' }], phases: 'all' as const, arrival: 'together' as const }
    const story = ['a: input is accepted', 'a: hook before passes', 'a: host allows']
    await replayTurn(setup, story)
    const { world } = await playTurn({ ...setup, context: { permissions: { ask: ['Edit'] } } }, story)
    expect(world.breaches()).toEqual([])
    world.phases.allowed.clear()
    expect(world.breaches().map(({ problem }) => problem)).toEqual([
      "a rule asks for Edit, but a ran without the host's permission",
    ])
  })
})
