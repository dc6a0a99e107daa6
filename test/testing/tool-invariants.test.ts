import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, defineTool } from '../../src/index.ts'
import {
  exploreCrashes,
  exploreQuery,
  exploreTurn,
  type Hold,
  simulate,
  simulateQuery,
  type TurnEvidence,
  toolInvariants,
  turnInvariants,
} from '../../src/testing/index.ts'

const calm = { failure: false, progress: false, interrupt: false, abort: false, discard: false, time: false }
const quiet = { ...calm, reader: false, reading: false }
const invariants = [...turnInvariants, ...toolInvariants]

const explore = (tools: (hold: Hold) => readonly AnyTool[], happenings: object, atEnd?: (turn: TurnEvidence) => void) =>
  exploreTurn({ tools, calls: [{ tool: 'Tool' }], happenings: { ...quiet, ...happenings }, invariants, atEnd })

const toolOf = (call: AnyTool['call'], more: object = {}): AnyTool =>
  defineTool({ name: 'Tool', inputSchema: z.object({}), call, ...more })

describe('what a well-behaved tool does', () => {
  const waiting = (passesSignal: boolean) => (hold: Hold) => [
    toolOf(async (_, { abortController: { signal } }) => {
      await hold('the page is there', passesSignal ? signal : undefined)
      return { data: 'done' }
    }),
  ]

  it('finds a body that ignores its signal, and none that stops', async () => {
    const { breach } = await explore(waiting(false), { abort: true, time: true })
    expect(breach?.text).toBe(
      [
        'bodies stop: a (Tool) was told to stop and still runs after the grace period. Pass its signal to what it waits for',
        '   a = Tool({})',
        ' 1. a arrives',
        ' 2. the user aborts',
        ' 3. time passes',
      ].join('\n'),
    )
    expect(await explore(waiting(true), { abort: true, time: true })).toMatchObject({
      breach: undefined,
      isComplete: true,
    })
  })

  it('a wait that begins after the abort ends at once', async () => {
    const twice = (hold: Hold) => [
      toolOf(async (_, { abortController: { signal } }) => {
        await hold('it is begun')
        await hold('the page is there', signal)
        return { data: 'done' }
      }),
    ]
    const told = await exploreTurn({
      tools: twice,
      calls: [{ tool: 'Tool' }],
      happenings: { ...quiet, abort: true },
      invariants: [
        ...turnInvariants,
        {
          name: 'nothing waits after an abort',
          check: ({ calls, run }) =>
            run === 'aborted' && calls.some(({ body }) => body?.starts === 1 && !body.isRunning && body.outcome?.ok)
              ? 'a body went on'
              : undefined,
        },
      ],
    })
    expect(told).toMatchObject({ breach: undefined, isComplete: true })
  })

  it('finds a mapper that throws', async () => {
    const mapResult = (): never => {
      throw new Error('no such field')
    }
    const { breach } = await explore(() => [toolOf(async () => ({ data: {} }), { mapResult })], {})
    expect(breach?.text).toContain('results are formatted: the result of a (Tool) could not be converted for the model')
    expect(breach?.text).toContain('no such field')
  })

  it('finds a flood of progress', async () => {
    const flood = (most: number) => () => [
      toolOf(async (_, _context, _ask, _message, onProgress) => {
        for (let n = 0; n < most; n++) onProgress({ data: n })
        return { data: 'done' }
      }),
    ]
    const { breach } = await explore(flood(1_500), {})
    expect(breach?.text).toContain('progress is kept: 500 progress messages of a (Tool) were dropped')
    expect((await explore(flood(900), {})).breach).toBeUndefined()
  })

  it('atEnd gets the turn, to find what a result must not say', async () => {
    let folder = ''
    const cd = (hold: Hold) => [
      defineTool({
        name: 'Cd',
        inputSchema: z.object({ to: z.string() }),
        isConcurrencySafe: () => true,
        call: async ({ to }) => {
          folder = to
          await hold(`moved to ${to}`)
          return { data: `in ${folder}` }
        },
      }),
    ]
    const { breach } = await exploreTurn({
      tools: cd,
      calls: ['x', 'y'].map((to) => ({ tool: 'Cd', input: { to } })),
      happenings: quiet,
      state: () => folder,
      atEnd: ({ calls }) => {
        if (calls[0]?.results[0]?.text !== 'in x') throw new Error(`a is ${calls[0]?.results[0]?.text}`)
      },
    })
    expect(breach?.text).toContain('at the end: a is in y')
  })
})

describe('wrong options', () => {
  const replies = [[{ call: 'Tool' }]]
  const tools = [toolOf(async () => ({ data: '' }))]
  it.each<[string, () => Promise<unknown>, string]>([
    ['exploreQuery', () => exploreQuery(undefined as never), 'options: expected an object, received undefined.'],
    ['exploreQuery', () => exploreQuery({ tools, replies: 'x' } as never), 'replies: expected an array, received "x".'],
    ['exploreQuery', () => exploreQuery({ tools, replies, fallback: 1 } as never), 'Unknown option fallback.'],
    ['exploreCrashes', () => exploreCrashes({ tools } as never), 'replies: expected an array, received undefined.'],
    [
      'exploreCrashes',
      () => exploreCrashes({ tools, replies, maxCrashes: 0 }),
      'maxCrashes: expected an integer of at least 1',
    ],
    ['simulate', () => simulate(undefined as never), 'options: expected an object, received undefined.'],
    ['simulate', () => simulate({ seed: 'x' } as never), 'seed: expected a number, received "x".'],
    ['simulate', () => simulate({ seed: 1, runs: -1 }), 'runs: expected an integer of at least 1, received -1.'],
    ['simulateQuery', () => simulateQuery({ seed: 1, maxreplies: 3 } as never), 'Unknown option maxreplies.'],
  ])('%s names what is wrong', async (_, explore, problem) => {
    await expect(explore()).rejects.toThrow(problem)
  })
})
