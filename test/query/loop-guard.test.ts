import { createTools } from '@signalbox/tools'
import { memoryJournals, openSession } from 'signalbox/durable'
import { type ScriptTurn, scriptedModel } from 'signalbox/scripted'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type AnyTool,
  allowAllTools,
  type CanUseTool,
  defineTool,
  type PermissionQuestion,
  type QueryOptions,
  query,
} from '../../src/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { inShort } from '../support/query.ts'

const check = (words = 'a'): ScriptTurn => [{ call: 'Check', input: { words, more: { of: [1, 2] } } }]
const times = (n: number, turn: ScriptTurn): ScriptTurn[] => Array.from({ length: n }, () => turn)

function tool(results: readonly string[] = [], more: object = {}) {
  const ran: string[] = []
  const made = defineTool({
    name: 'Check',
    inputSchema: z.object({ words: z.string(), more: z.unknown() }),
    isReadOnly: () => true,
    ...more,
    async call({ words }) {
      ran.push(words)
      return { data: results[ran.length - 1] ?? 'the same' }
    },
  }) as AnyTool
  return { made, ran }
}

async function play(turns: readonly ScriptTurn[], options: Partial<QueryOptions> & Pick<QueryOptions, 'tools'>) {
  const run = query({
    messages: 'go',
    canUseTool: allowAllTools,
    model: scriptedModel([...turns, 'Done.']),
    ...options,
  })
  for await (const _ of run) void _
  expect(run.result?.reason).toBe('completed')
  expect(checkTranscript(run.transcript)).toEqual({ ok: true })
  return run
}

/** A host that notes what it is asked, and why. */
function asker(behavior: 'allow' | 'deny') {
  const asked: (PermissionQuestion | undefined)[] = []
  const canUseTool: CanUseTool = (_tool, _input, _context, _message, _id, question) => {
    asked.push(question)
    return behavior === 'allow' ? { behavior } : { behavior, message: 'no' }
  }
  return { canUseTool, all: asked }
}

describe('the loop guard', () => {
  it('U4 the third equal call in a row is refused with a sentence for the model, if nobody can be asked', async () => {
    const { made, ran } = tool()
    const run = await play(times(5, check()), { tools: [made] })
    expect(ran).toHaveLength(2)
    const refusals = run.transcript.filter((message) =>
      JSON.stringify(message).includes('Check did not run: the same input has had the same result 2 times in a row'),
    )
    // a refusal is no new result: the loop does not begin again
    expect(refusals).toHaveLength(3)
    expect(run.usage.calls).toBe(5)
  })

  it('U4 is asked about, with the reason, also where a rule allows the call', async () => {
    const { made, ran } = tool()
    const { canUseTool, all } = asker('allow')
    const permissions = { allow: ['Check'] }
    await play(times(4, check()), { tools: [made], canUseTool, context: { permissions } })
    expect(ran).toHaveLength(4)
    expect(all).toEqual([
      {
        because: { by: 'loop', repeats: 2 },
        message: 'The same call has had the same result 2 times in a row.',
      },
      {
        because: { by: 'loop', repeats: 3 },
        message: 'The same call has had the same result 3 times in a row.',
      },
    ])
  })

  it.each<[string, Partial<QueryOptions>]>([
    [
      'mode dontAsk',
      { canUseTool: () => ({ behavior: 'allow' }), context: { permissions: { mode: 'dontAsk', allow: ['Check'] } } },
    ],
    ['no canUseTool', { canUseTool: undefined, context: { permissions: { allow: ['Check'] } } }],
    [
      'mode bypassPermissions without a host',
      { canUseTool: undefined, context: { permissions: { mode: 'bypassPermissions' } } },
    ],
  ])('U4 is refused in %s', async (_, options) => {
    const { made, ran } = tool()
    await play(times(4, check()), { tools: [made], ...options })
    expect(ran).toHaveLength(2)
  })

  it.each<[string, ScriptTurn[], readonly string[], number]>([
    ['another input', [check('a'), check('a'), check('b'), check('a'), check('a')], [], 5],
    ['another result', times(4, check()), ['1', '2', '3', '4'], 4],
    ['a result that changes once', times(5, check()), ['1', '1', '2', '2'], 2],
    ['another tool between', [check(), check(), [{ call: 'Other', input: {} }], check(), check()], [], 4],
    [
      'another call before it in the same reply',
      [check(), check(), [{ call: 'Other', input: {} }, ...(check() as [])]],
      [],
      3,
    ],
  ])('U4 in a row only: %s', async (_, turns, results, expected) => {
    const { made, ran } = tool(results)
    const other = defineTool({ name: 'Other', inputSchema: z.object({}), call: async () => ({ data: 'x' }) }) as AnyTool
    await play(turns, { tools: [made, other] })
    expect(ran).toHaveLength(expected)
  })

  it('U4 equal calls of one reply count, whatever the order of their keys', async () => {
    const { made, ran } = tool()
    const one = { call: 'Check', input: { words: 'a', more: { x: 1, y: 2 } } }
    const same = { call: 'Check', input: { more: { y: 2, x: 1 }, words: 'a' } }
    await play(
      [
        [one, same],
        [one, same],
      ],
      { tools: [made] },
    )
    expect(ran).toHaveLength(2)
  })

  it('U4 a call by an alias is a call of the same tool', async () => {
    const { made, ran } = tool([], { aliases: ['look'] })
    const named = (call: string): ScriptTurn => [{ call, input: { words: 'a', more: 1 } }]
    await play([named('Check'), named('look'), named('Check'), named('look')], { tools: [made] })
    expect(ran).toHaveLength(2)
  })

  it('U4 can be turned off, set, and does not hold for tools that may repeat', async () => {
    const off = tool()
    await play(times(6, check()), { tools: [off.made], loopGuard: false })
    expect(off.ran).toHaveLength(6)
    const set = tool()
    await play(times(6, check()), { tools: [set.made], loopGuard: { repeats: 5 } })
    expect(set.ran).toHaveLength(4)
    const polls = tool([], { mayRepeat: true })
    await play(times(6, check()), { tools: [polls.made] })
    expect(polls.ran).toHaveLength(6)
  })

  it.each([0, 1, 2.5, '3', Number.NaN])('U4 repeats: %s is an error at the start', (repeats) => {
    const options = { messages: 'go', tools: [], model: scriptedModel([]), loopGuard: { repeats: repeats as number } }
    expect(() => query(options)).toThrow('loopGuard.repeats: expected an integer of at least 2')
  })

  it('U4 a message of the user begins anew', async () => {
    const { made, ran } = tool()
    const model = scriptedModel([check(), check(), 'Done.', check(), check(), 'Done.'])
    const run = query({ messages: 'go', tools: [made], model, canUseTool: allowAllTools })
    for await (const _ of run) void _
    const again = [...run.transcript, { role: 'user' as const, content: 'again' }]
    for await (const _ of query({ messages: again, tools: [made], model, canUseTool: allowAllTools })) void _
    expect(ran).toHaveLength(4)
  })

  it('U4 holds after a restart in the middle of a run', async () => {
    const journals = memoryJournals()
    const { made, ran } = tool()
    const options = { id: 's', journals, tools: [made], canUseTool: allowAllTools }
    const first = await openSession({
      ...options,
      model: scriptedModel([check(), check(), () => new Promise<never>(() => undefined)]),
    })
    first.send('go')
    for (let n = 0; n < 100 && ran.length < 2; n++) await new Promise((resolve) => setImmediate(resolve))
    await first.suspend()
    await first.close()
    const second = await openSession({ ...options, model: scriptedModel([check(), 'Done.']) })
    for await (const _ of second.resume()) void _
    expect(second.result?.reason).toBe('completed')
    expect(ran).toHaveLength(2)
    expect(inShort(second.transcript)).toContainEqual(expect.stringContaining('error'))
    await second.close()
  })

  it('U4 the ready tools that poll may repeat', () => {
    const { tools } = createTools({ root: '.' })
    const polling = tools.filter(({ mayRepeat }) => mayRepeat === true).map(({ name }) => name)
    expect(polling).toEqual(expect.arrayContaining(['BackgroundList', 'BackgroundOutput']))
  })
})
