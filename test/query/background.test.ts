import { describe, expect, it } from 'vitest'
import type { BackgroundCalls } from '../../src/background/background-calls.ts'
import { allowAllTools, createLocks, type Query, type Resources, type UserMessage } from '../../src/index.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { heldTool } from '../support/held-tool.ts'
import { apiInShort, inShort, testQuery } from '../support/query.ts'
import { flush } from '../support/turn.ts'

const sentence = (id: string): string =>
  `Running in the background as ${id}. You will get its result when it is done; do not guess it.`

type Options = Parameters<typeof testQuery>[1]

function background(given: Parameters<typeof heldTool>[1] = {}, options: Options = {}) {
  const clock = simulatedClock()
  const slow = heldTool('Slow', { ...given })
  const fast = heldTool('Fast', { safe: true })
  const { executor, ...rest } = options ?? {}
  const test = testQuery([slow.tool, fast.tool], {
    canUseTool: allowAllTools,
    executor: { clock, ...executor },
    ...rest,
  })
  const calls = async (...named: [string, string][]) => {
    await flush()
    test.held.start()
    for (const [id, name] of named) test.held.call(id, name)
    test.held.end('tool_use')
    await flush()
  }
  const says = async (text: string) => {
    await flush()
    test.held.start()
    test.held.text(text)
    test.held.end()
    await flush()
  }
  const stateOf = () => test.run.actor.getSnapshot().value
  const outcomes = () =>
    test.run.transcript.filter((message) => message.type === 'user' && message.background !== undefined)
  return { ...test, clock, slow, fast, calls, says, stateOf, outcomes }
}

/** The host does not see in which locks its background calls keep their keys. */
const locksOf = ({ background }: Query) => (background as BackgroundCalls).locks

describe('a call that goes to the background', () => {
  it('X1 X2 after its threshold: the model is asked again at once, and gets the outcome later', async () => {
    const { clock, slow, held, calls, says, stateOf, run, result } = background({ background: { afterMs: 1_000 } })
    await calls(['a', 'Slow'])
    clock.increment(999)
    await flush()
    expect(held.requests).toHaveLength(1)
    clock.increment(1)
    await flush()
    // within one turn of the event loop
    expect(held.requests).toHaveLength(2)
    expect(apiInShort(held.requests[1]?.messages ?? []).at(-1)).toBe(`user: result a ${sentence('bg_1')}`)
    await says('meanwhile')
    expect(stateOf()).toBe('awaiting')
    expect(held.requests).toHaveLength(2)
    slow.run('a').finish({ data: 'ninety tests pass' })
    await flush()
    expect(held.requests).toHaveLength(3)
    expect(apiInShort(held.requests[2]?.messages ?? []).slice(-2)).toEqual([
      'assistant: meanwhile',
      'user: [Background call bg_1, Slow, has finished. Its result:]\nninety tests pass',
    ])
    await says('all pass')
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(run.background.list()).toMatchObject([{ id: 'bg_1', toolUseID: 'a', status: 'finished' }])
    expect(clock.pending).toBe(0)
  })

  it('X1 by its own body, with a note for the model', async () => {
    const { slow, held, calls, says, result } = background()
    await calls(['a', 'Slow'])
    expect(slow.run('a').context.detach?.('It prints a line per test.')).toBe(true)
    expect(slow.run('a').context.detach?.()).toBe(true)
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? []).at(-1)).toBe(
      `user: result a ${sentence('bg_1')}\nIt prints a line per test.`,
    )
    slow.run('a').finish()
    await says('ok')
    await says('done')
    expect(await result).toMatchObject({ reason: 'completed' })
  })

  it('X1 by the host, and only while its body runs', async () => {
    const { slow, fast, run, calls } = background()
    await calls(['a', 'Slow'], ['b', 'Fast'])
    // b waits behind an unsafe call
    expect([run.detach('b'), run.detach('nobody')]).toEqual([false, false])
    expect(run.detach('a')).toBe(true)
    await flush()
    expect(fast.started).toEqual(['b'])
    fast.run('b').finish()
    await flush()
    expect(run.detach('b')).toBe(false)
    slow.run('a').finish()
    await run.return()
  })

  it('X1 not while it is queued, asked about, waits for a key or for its next attempt, or was told to stop', async () => {
    let answer = (_: { behavior: 'allow' }): void => undefined
    const asked = new Promise<{ behavior: 'allow' }>((resolve) => (answer = resolve))
    const asks = background({ retry: { attempts: 2, backoffMs: 10 } }, { canUseTool: () => asked })
    await asks.calls(['a', 'Slow'], ['b', 'Slow'])
    expect([asks.run.detach('a'), asks.run.detach('b'), asks.run.detach('c')]).toEqual([false, false, false])
    answer({ behavior: 'allow' })
    await flush()
    asks.slow.run('a').fail(new Error('once'))
    await flush()
    expect([asks.slow.started, asks.run.detach('a')]).toEqual([['a'], false])
    asks.clock.increment(10)
    await flush()
    expect(asks.slow.started).toEqual(['a', 'a'])
    asks.run.abort('escape')
    await flush()
    expect(asks.run.detach('a')).toBe(false)
    expect(asks.run.background.list()).toEqual([])
    asks.slow.run('a').finish()
    const context = { locks: createLocks() }
    const resources = (): Resources => ({ writes: ['file:/x'] })
    const [one, other] = [background({ resources }, { context }), background({ resources }, { context })]
    await one.calls(['a', 'Slow'])
    await other.calls(['a', 'Slow'])
    expect([other.slow.started, other.run.detach('a'), one.run.detach('a')]).toEqual([[], false, true])
    for (const { run } of [one, other]) run.abort('escape')
    one.slow.run('a').finish()
    await flush()
    expect(context.locks.holders()).toEqual([])
  })

  it('X1 where nobody can take it over, it stays in its turn', async () => {
    const { slow, held, calls, clock, run } = background({ background: { afterMs: 5 } }, { maxBackground: 0 })
    await calls(['a', 'Slow'])
    clock.increment(100)
    await flush()
    expect(run.detach('a')).toBe(false)
    expect(held.requests).toHaveLength(1)
    slow.run('a').finish({ data: 'in its turn' })
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? []).at(-1)).toBe('user: result a in its turn')
    await run.return()
  })

  it('X2 leaves the gate: an unsafe call starts beside it', async () => {
    const { slow, run, calls } = background({ obedient: true })
    await calls(['a', 'Slow'], ['b', 'Slow'])
    expect(slow.started).toEqual(['a'])
    run.detach('a')
    await flush()
    expect(slow.started).toEqual(['a', 'b'])
    await run.return()
  })

  it('X2 its timeout and its retries go on', async () => {
    const { slow, clock, run, calls, says, outcomes } = background({
      timeout: 1_000,
      retry: { attempts: 3, backoffMs: 10 },
    })
    await calls(['a', 'Slow'])
    run.detach('a')
    slow.run('a').fail(new Error('first'))
    await says('waiting')
    expect(slow.started).toEqual(['a'])
    clock.increment(10)
    await flush()
    expect(slow.started).toEqual(['a', 'a'])
    clock.increment(990)
    await flush()
    slow.run('a').finish()
    await flush()
    expect(inShort(outcomes())).toEqual([
      expect.stringContaining('has failed. Its result:]\n<tool_use_error>Timeout: the call took longer than 1000 ms'),
    ])
    await run.return()
  })

  it('X2 hooks, mapper and size limits apply to the outcome, a context modifier does not, and no sibling is cancelled', async () => {
    const warnings: string[] = []
    const seen: unknown[] = []
    const { slow, fast, run, calls, outcomes, says, result } = background(
      {
        cancelsSiblingsOnError: true,
        maxResultSizeChars: 10,
        mapResult: (data, id) => ({ type: 'tool_result', tool_use_id: id, content: `mapped ${data}`, is_error: true }),
      },
      {
        context: {
          hooks: {
            PostToolUse: [
              {
                hooks: [
                  async (input) => {
                    seen.push((input as { tool_use_id: unknown }).tool_use_id)
                    return { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'from a hook' } }
                  },
                ],
              },
            ],
          },
        },
      },
    )
    run.on('warning', ({ code }) => void warnings.push(code))
    await calls(['a', 'Slow'], ['b', 'Fast'])
    run.detach('a')
    await flush()
    slow.run('a').finish({ data: 'a long text', contextModifier: (context) => ({ ...context, changed: true }) })
    await flush()
    fast.run('b').finish({ data: 'untouched' })
    await flush()
    expect(seen).toEqual(['a', 'b'])
    expect(run.context.changed).toBeUndefined()
    expect(warnings).toEqual(['context_modifier_dropped'])
    await says('done')
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(inShort(run.transcript)).toEqual([
      'user: go',
      'assistant: call a Slow {}',
      'assistant: call b Fast {}',
      `user: result a ${sentence('bg_1')}`,
      'user: result b untouched',
      expect.stringContaining('user: '),
      expect.stringMatching(/has failed. Its result:\]\nmapped a l/),
      expect.stringContaining('from a hook'),
      'assistant: done',
    ])
    expect(outcomes()).toHaveLength(1)
  })

  it('X2 its progress is a message of its own', async () => {
    const { slow, run, calls, seen } = background({ obedient: true })
    await calls(['a', 'Slow'])
    run.detach('a')
    await flush()
    slow.run('a').progress('half')
    await flush()
    expect(seen.at(-1)).toMatchObject({ type: 'progress', data: 'half', parentToolUseID: 'a', backgroundID: 'bg_1' })
    await run.return()
  })

  it('X3 outcomes come in the order of completion, each once, never as a tool result', async () => {
    const { slow, run, calls, says, held, outcomes, result } = background({ safe: true })
    await calls(['a', 'Slow'], ['b', 'Slow'], ['c', 'Slow'])
    for (const id of ['a', 'b', 'c']) run.detach(id)
    await flush()
    slow.run('c').finish({ data: 'third' })
    slow.run('a').finish({ data: 'first' })
    await says('go on')
    expect(held.requests).toHaveLength(3)
    slow.run('b').finish({ data: 'second' })
    await says('nearly')
    await says('done')
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(outcomes().map((message) => (message as UserMessage).background?.id)).toEqual(['bg_3', 'bg_1', 'bg_2'])
    const results = run.transcript.flatMap((message) =>
      message.type === 'user' && typeof message.message.content !== 'string'
        ? message.message.content.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id)
        : [],
    )
    expect(results).toEqual(['a', 'b', 'c'])
  })

  it('X4 a message, an abort and a host leave awaiting; a message does not lose the call', async () => {
    const { slow, run, calls, says, held, stateOf, outcomes, result } = background()
    await calls(['a', 'Slow'])
    run.detach('a')
    await says('waiting')
    expect(stateOf()).toBe('awaiting')
    expect(run.send('and now?')).toBe(true)
    await flush()
    expect(apiInShort(held.requests.at(-1)?.messages ?? []).at(-1)).toBe('user: and now?')
    await says('still waiting')
    run.interrupt('hurry')
    await flush()
    expect(apiInShort(held.requests.at(-1)?.messages ?? []).at(-1)).toBe('user: hurry')
    await says('soon')
    // an interrupt does not stop it
    expect(slow.run('a').context.abortController.signal.aborted).toBe(false)
    expect(stateOf()).toBe('awaiting')
    run.abort('escape')
    await flush()
    expect(slow.run('a').context.abortController.signal.reason).toBe('escape')
    slow.run('a').finish()
    expect(await result).toMatchObject({ reason: 'aborted_tools', abortReason: 'escape' })
    expect(outcomes()).toEqual([])
  })

  it('X4 a query does not wait for a call that nobody awaits; it stops when the query ends', async () => {
    const { slow, calls, says, run, result, outcomes } = background({ background: { awaited: false } })
    await calls(['a', 'Slow'])
    run.detach('a')
    await says('the server runs')
    expect(slow.run('a').context.abortController.signal.reason).toBe('query_ended')
    slow.run('a').finish()
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(outcomes()).toEqual([])
  })

  it('X4 an outcome of a call that nobody awaits is still reported, if it comes in time', async () => {
    const { slow, calls, says, run, result, held } = background({ background: { awaited: false } })
    await calls(['a', 'Slow'])
    run.detach('a')
    await flush()
    slow.run('a').finish({ data: 'it broke' })
    await says('the server runs')
    expect(apiInShort(held.requests[2]?.messages ?? []).at(-1)).toContain('it broke')
    await says('oh')
    expect(await result).toMatchObject({ reason: 'completed' })
  })

  it('X4 with onEnd leave, the body runs on when the query ends', async () => {
    const { slow, calls, says, run, result } = background({ background: { awaited: false, onEnd: 'leave' } })
    await calls(['a', 'Slow'])
    run.detach('a')
    await says('the server runs')
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(slow.run('a').context.abortController.signal.aborted).toBe(false)
    slow.run('a').progress('nobody hears this')
    slow.run('a').finish()
    await flush()
  })

  it('X4 the last turn is not waited for beyond', async () => {
    const { slow, calls, run, result, outcomes } = background({}, { maxTurns: 1 })
    await calls(['a', 'Slow'])
    run.detach('a')
    await flush()
    slow.run('a').finish()
    expect(await result).toMatchObject({ reason: 'max_turns' })
    expect(outcomes()).toEqual([])
  })

  it.each([
    ['of its own', undefined],
    ['of the context', createLocks()],
  ])('X5 with locks %s, it keeps the keys that it named until it is over; `*` is given up', async (_, given) => {
    const holders = () => (given ?? locksOf(run))?.holders() ?? []
    const resources = ({ keys = ['*'] }: Record<string, unknown>): Resources => ({ writes: keys as string[] })
    const { slow, run, held, calls, says, result } = background({ resources }, given && { context: { locks: given } })
    await calls(['a', 'Slow'])
    run.detach('a')
    await flush()
    expect(holders()).toEqual([])
    held.start()
    held.call('e', 'Slow', { keys: ['*', 'file:/three'] })
    held.end('tool_use')
    await flush()
    run.detach('e')
    await flush()
    expect(holders()).toMatchObject([{ toolUseID: 'e', reads: [], writes: ['file:/three'] }])
    slow.run('e').finish()
    await flush()
    expect(holders()).toEqual([])
    held.start()
    held.call('b', 'Slow', { keys: ['file:/one'] })
    held.end('tool_use')
    await flush()
    run.detach('b')
    await flush()
    held.start()
    held.call('c', 'Slow', { keys: ['file:/one'] })
    held.call('d', 'Slow', { keys: ['file:/other'] })
    held.end('tool_use')
    await flush()
    // nothing waits for `a`, whose `*` conflicts with every call
    expect(slow.started).toEqual(['a', 'e', 'b', 'd'])
    expect(run.executor.explain('c')).toEqual({
      ok: false,
      because: 'resource',
      blockers: ['b'],
      key: 'file:/one',
      holders: [{ toolUseID: 'b', toolName: 'Slow' }],
    })
    expect(holders().map(({ toolUseID, isWaiting }) => [toolUseID, isWaiting])).toEqual([
      ['b', false],
      ['c', true],
      ['d', false],
    ])
    slow.run('b').finish()
    await flush()
    expect(slow.started).toEqual(['a', 'e', 'b', 'd', 'c'])
    for (const id of ['a', 'c', 'd']) slow.run(id).finish()
    await says('done')
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(holders()).toEqual([])
  })

  it('X5 a call of the same reply waits for the keys of one that goes to the background, others do not', async () => {
    const { slow, run, held, says, result } = background({
      resources: ({ keys = [] }) => ({ writes: keys as string[] }),
    })
    await flush()
    held.start()
    held.call('a', 'Slow', { keys: ['file:/one'] })
    held.call('b', 'Slow', { keys: ['file:/one'] })
    held.call('c', 'Slow', { keys: ['file:/two'] })
    held.end('tool_use')
    await flush()
    expect(slow.started).toEqual(['a', 'c'])
    run.detach('c')
    run.detach('a')
    await flush()
    expect(slow.started).toEqual(['a', 'c'])
    slow.run('a').finish()
    await flush()
    expect(slow.started).toEqual(['a', 'c', 'b'])
    slow.run('b').finish()
    slow.run('c').finish()
    await says('done')
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(locksOf(run)?.holders()).toEqual([])
  })

  it('X5 a query in which nothing names resources has no locks', async () => {
    const { run, calls } = background({ obedient: true })
    await calls(['a', 'Slow'])
    run.detach('a')
    await flush()
    expect(locksOf(run)).toBeUndefined()
    await run.return()
  })

  it('X5 a body that ignores its signal gives its keys back when it is abandoned', async () => {
    const locks = createLocks()
    const { clock, calls, run, result } = background(
      { resources: () => ({ writes: ['file:/one'] }) },
      { context: { locks }, executor: { abortGraceMs: 50 } },
    )
    await calls(['a', 'Slow'])
    run.detach('a')
    await flush()
    run.abort('escape')
    await flush()
    expect(locks.holders()).toMatchObject([{ toolUseID: 'a' }])
    clock.increment(50)
    await result
    expect(locks.holders()).toEqual([])
  })

  it('X10 telemetry tells that it goes on, and later how it ended', async () => {
    const told: unknown[] = []
    const { slow, run, calls, says, result } = background({ safe: true, obedient: true })
    run.on('tool_use_background', ({ toolUseID, backgroundID }) => void told.push([toolUseID, backgroundID]))
    for (const type of ['tool_use_success', 'tool_use_error', 'tool_use_cancelled'] as const) {
      run.on(type, ({ toolUseID }) => void told.push([toolUseID, type]))
    }
    await calls(['a', 'Slow'], ['b', 'Slow'], ['c', 'Slow'])
    for (const id of ['a', 'b', 'c']) run.detach(id)
    await flush()
    slow.run('a').finish()
    slow.run('b').fail(new Error('broke'))
    run.background.stop('bg_3')
    await says('done')
    expect(told).toEqual([
      ['a', 'bg_1'],
      ['b', 'bg_2'],
      ['c', 'bg_3'],
      ['a', 'tool_use_success'],
      ['b', 'tool_use_error'],
      ['c', 'tool_use_cancelled'],
    ])
    await says('done')
    expect(await result).toMatchObject({ reason: 'completed' })
  })

  it('X7 a call that is over, is unknown or stops already: a stop says so, and changes nothing', async () => {
    const { slow, run, calls, says, result, outcomes } = background()
    await calls(['a', 'Slow'], ['b', 'Slow'])
    for (const id of ['a', 'b']) run.detach(id)
    await flush()
    expect([run.background.stop('bg_9'), run.background.stop('bg_1'), run.background.stop('bg_1')]).toEqual([
      false,
      true,
      true,
    ])
    for (const id of ['a', 'b']) slow.run(id).finish({ data: 'DONE' })
    await flush()
    expect([run.background.stop('bg_1'), run.background.stop('bg_2')]).toEqual([false, false])
    await says('ok')
    await says('ok')
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(
      outcomes()
        .map((each) => JSON.stringify(each))
        .map((text) => [text.includes('It was stopped'), text.includes('DONE')]),
    ).toEqual([
      [true, true],
      [false, true],
    ])
  })

  it('X6 a body that ignores its signal cannot hang the end of a query', async () => {
    const { clock, calls, run, result } = background({}, { executor: { abortGraceMs: 50 } })
    await calls(['a', 'Slow'])
    run.detach('a')
    await flush()
    run.abort('escape')
    await flush()
    expect(run.result).toBeUndefined()
    clock.increment(50)
    expect(await result).toMatchObject({ abortReason: 'escape' })
  })

  it('X6 those of a discarded attempt are stopped, and nobody gets their outcome', async () => {
    const { slow, run, held, result } = background({ isReadOnly: () => true, startWhen: 'closed' })
    await flush()
    held.start()
    held.call('a', 'Slow')
    await flush()
    run.detach('a')
    await flush()
    held.fail(Object.assign(new Error('overloaded'), { status: 529 }))
    await flush()
    expect(slow.run('a').context.abortController.signal.reason).toBe('streaming_fallback')
    slow.run('a').finish()
    await flush()
    expect(run.background.list()).toEqual([])
    run.abort('enough')
    expect(await result).toMatchObject({ abortReason: 'enough' })
  })
})
