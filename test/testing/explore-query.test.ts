import { describe, expect, it } from 'vitest'
import type { ApiMessage } from '../../src/index.ts'
import type { Frame } from '../../src/inspect/index.ts'
import {
  checkRecording,
  type ExploreQueryOptions,
  exploreQuery,
  heldTool,
  type QueryEvidence,
  type QueryInvariant,
  queryInvariants,
  replayQuery,
  simulateQuery,
} from '../../src/testing/index.ts'

const tools = [
  heldTool('Read', { safe: true }).tool,
  heldTool('Edit').tool,
  heldTool('Search', { safe: true, cancel: true }).tool,
]
const nothing = {
  failure: false,
  modelTrouble: false,
  modelError: false,
  interrupt: false,
  steer: false,
  abort: false,
  readerLeaves: false,
}
const framesOf = (recording: string): Frame[] =>
  recording
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Frame)

describe('exploring a query', () => {
  it.each<[string, ExploreQueryOptions, number]>([
    [
      'an abort, an interrupt and a reader that leaves everywhere',
      {
        tools,
        replies: [['Let me see.', { call: 'Read' }, { call: 'Edit' }]],
        happenings: { ...nothing, abort: true, interrupt: true, readerLeaves: true, time: false },
      },
      50,
    ],
    [
      'a model that fails everywhere, once, with an unsafe call under way',
      { tools, replies: [[{ call: 'Edit' }]], happenings: { ...nothing, modelTrouble: true } },
      40,
    ],
    [
      'a model that refuses everywhere, and a tool that fails',
      { tools, replies: [[{ call: 'Search' }]], happenings: { ...nothing, modelError: true, failure: true } },
      10,
    ],
    [
      'a user who says something else everywhere',
      {
        tools,
        replies: [[{ call: 'Search' }, { call: 'Read' }]],
        happenings: { ...nothing, steer: true, time: false },
      },
      30,
    ],
    [
      'aborts while another attempt is waited for, with a fallback',
      {
        tools,
        replies: [[{ call: 'Read' }]],
        hasFallback: true,
        options: { retry: { attempts: 0 } },
        happenings: { ...nothing, modelTrouble: true, hostAbort: true },
      },
      60,
    ],
  ])('L1 L4 L8 Y6 %s: nothing is wrong', { timeout: 60_000 }, async (_, options, atLeast) => {
    const explored = await exploreQuery({ maxMs: 50_000, ...options })
    expect(explored.breach?.text).toBeUndefined()
    expect(explored).toMatchObject({ isComplete: true, endedBecause: 'complete' })
    expect(explored.states).toBeGreaterThan(atLeast)
  })

  it('L8 W1 a request may have the ids of another service, but no call without its result', () => {
    const requestsOf = (...messages: ApiMessage[]) => ({ requests: [{ messages }] }) as unknown as QueryEvidence
    const check = queryInvariants.find(({ name }) => name === 'requests are valid')?.check
    const call = { type: 'tool_use' as const, id: 'functions.Read:0', name: 'Read', input: {} }
    const asked: ApiMessage[] = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [call] },
    ]
    const result: ApiMessage = { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'ok' }] }
    expect(check?.(requestsOf(...asked, result))).toBeUndefined()
    expect(check?.(requestsOf(...asked))).toBe('unanswered_call')
  })

  const wish: QueryInvariant = {
    name: 'it is never asked twice',
    check: ({ requests }) => (requests.length > 1 ? `it was asked ${requests.length} times` : undefined),
  }

  it('finds a breach of a custom invariant, as text, as a test and as a recording', async () => {
    const setup = { tools, replies: [['So.', { call: 'Read' }]], happenings: { ...nothing, modelTrouble: true } }
    const { breach } = await exploreQuery({ ...setup, invariants: [...queryInvariants, wish] })
    expect(breach?.text).toBe(
      [
        'it is never asked twice: it was asked 2 times',
        '   1: ["So.",{"call":"Read"}]',
        ' 1. the model is overloaded',
        ' 2. time passes',
      ].join('\n'),
    )
    expect(breach?.test).toContain(
      "await replayQuery(setup, [\n    'the model is overloaded',\n    'time passes',\n  ])",
    )
    expect(breach?.test).toContain("    replies: [\n      ['So.', { call: 'Read' }],\n    ],")
    const again = replayQuery({ ...setup, invariants: [wish] }, breach?.story ?? [])
    await expect(again).rejects.toThrow('it is never asked twice: it was asked 2 times')
    await replayQuery(setup, breach?.story ?? [])
    const recording = (await breach?.recording()) ?? ''
    expect(framesOf(recording).find(({ type }) => type === 'breach')).toMatchObject({ invariant: wish.name })
    expect(await breach?.recording()).toBe(recording)
  })

  it('finds a query that never ends', async () => {
    const happenings = { ...nothing, time: false, modelTrouble: true }
    const { breach } = await exploreQuery({ tools, replies: ['So.'], happenings })
    expect(breach?.breaches[0]?.invariant).toBe('every turn ends')
    expect(breach?.story).toEqual(['the model is overloaded'])
    await expect(
      replayQuery({ tools, replies: ['So.'], happenings }, breach?.story ?? [], { mustEnd: true }),
    ).rejects.toThrow('every turn ends')
  })
})

describe('simulated queries', () => {
  it('L1 L8 Y6 keep every invariant whatever goes wrong, and so do their recordings', async () => {
    const recordings: string[] = []
    const { breach, runs, moves } = await simulateQuery({
      seed: 7,
      runs: 150,
      onRecording: (recording) => recordings.push(recording),
    })
    expect(breach?.text).toBeUndefined()
    expect([runs, moves > 1_000]).toEqual([150, true])
    for (const recording of recordings.filter(({ length }) => length > 0).slice(0, 60))
      expect(checkRecording(framesOf(recording))).toEqual([])
  })

  it('are the same for the same seed, byte for byte', async () => {
    const tell = async (seed: number) => {
      const told: string[] = []
      const keep = (text: string) => void told.push(text)
      const { digest } = await simulateQuery({ seed, runs: 20, onRun: keep, onRecording: keep })
      return [digest, ...told].join('\n')
    }
    const first = await tell(3)
    expect(await tell(3)).toBe(first)
    expect(await tell(4)).not.toBe(first)
  })

  it('are shrunk to the smallest story', async () => {
    const wish: QueryInvariant = {
      name: 'no interrupt',
      check: ({ result }) => (result?.reason === 'aborted_tools' ? 'there was one' : undefined),
    }
    const { breach } = await simulateQuery({ seed: 1, runs: 300, invariants: [wish] })
    expect(breach?.breaches[0]?.invariant).toBe('no interrupt')
    expect(breach?.story.length).toBeLessThanOrEqual(8)
  })
})
