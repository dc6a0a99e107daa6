import { expect } from 'vitest'
import {
  type AnyTool,
  createLocks,
  createToolResultMessage,
  type QueryOptions,
  type QueryResult,
  type ToolCallContext,
} from '../../../src/index.ts'
import type { SessionRecord } from '../../../src/journal/records.ts'
import { UnknownOutcomeError } from '../../../src/remote/index.ts'
import type { HeldToolOptions } from '../../../src/testing/held-tool.ts'
import { heldTool } from '../../support/held-tool.ts'
import { blockRecord, openedReply, stoppedRecord } from '../../support/log-records.ts'
import { inShort, testQuery } from '../../support/query.ts'
import { TestLog } from '../../support/test-log.ts'
import { flush } from '../../support/turn.ts'
import { heldHook } from './parts.ts'

/** A query with one call in the background, after the reply in which the model goes on without it. */
async function detached(tool: HeldToolOptions = {}, options: Partial<QueryOptions> = {}) {
  const phases: string[][] = []
  const slow = heldTool('Slow', tool)
  const query = testQuery([slow.tool], { ...options, executor: { abortGraceMs: 50, ...options.executor } })
  for (const type of ['tool_use_success', 'tool_use_error'] as const) {
    query.run.on(type, ({ durations }) => void phases.push(Object.keys(durations)))
  }
  const end: { result?: QueryResult } = {}
  void query.result.then((result) => {
    end.result = result
  })
  const says = async (text: string, stop?: 'tool_use') => {
    query.held.start()
    if (stop === undefined) query.held.text(text)
    else query.held.call(text, 'Slow')
    query.held.end(stop)
    await flush()
  }
  await flush()
  await says('a', 'tool_use')
  const isDetached = query.run.detach('a')
  await flush()
  const outcomes = (): string[] => inShort(query.run.transcript).filter((line) => line.includes('Background call'))
  const stop = async () => {
    query.run.background.stop('bg_1')
    await flush()
  }
  const statusOf = () => query.run.background.list().map(({ status }) => status)
  const { signal } = slow.run('a').context.abortController
  return { ...query, slow, end, says, outcomes, stop, statusOf, isDetached, signal, phases }
}

const told = (text: string) => [expect.stringContaining(text)]
const stateOf = (query: { run: { actor: { getSnapshot(): { value: unknown } } } }) =>
  query.run.actor.getSnapshot().value

const resultOf = (id: string, content: string) =>
  createToolResultMessage({ type: 'tool_result', tool_use_id: id, content }, { sourceToolAssistantUUID: `block ${id}` })

/** A query on a log that has a background call `bg_1` from a process that is gone. */
function recovered(tool: HeldToolOptions, options: Partial<QueryOptions> = {}, outcome?: string) {
  const before: SessionRecord[] = [
    ...openedReply(blockRecord('a', 'Slow')),
    { t: 'background.started', reply: 'r1', call: 'a', id: 'bg_1', isAwaited: true, onEnd: 'stop', input: { n: 1 } },
    { t: 'call.completed', reply: 'r1', call: 'a', messages: [resultOf('a', 'Running in the background as bg_1.')] },
    stoppedRecord,
    { t: 'turn.committed', reply: 'r1', isPaused: false },
    ...(outcome === undefined
      ? []
      : [{ t: 'background.finished' as const, id: 'bg_1', messages: [resultOf('a', outcome)] }]),
  ]
  const log = new TestLog(before)
  const slow = heldTool('Slow', tool)
  const query = testQuery([slow.tool], { journal: log, messages: [...log.fold.transcript.messages], ...options })
  const end: { result?: QueryResult } = {}
  void query.result.then((ended) => {
    end.result = ended
  })
  const outcomes = (): string[] => inShort(query.run.transcript).filter((line) => line.includes('Background call'))
  return { ...query, log, slow, outcomes, end }
}

/** Calls that outlive their turn. */
export const backgroundScenarios: Record<string, () => Promise<void>> = {
  async 'a call in the background completes at once, and its outcome asks the model again'() {
    const query = await detached()
    expect([query.isDetached, query.held.requests.length]).toEqual([true, 2])
    await query.says('meanwhile')
    expect([stateOf(query), query.end.result]).toEqual(['awaiting', undefined])
    query.slow.run('a').finish({ data: 'all good' })
    await flush()
    expect([query.held.requests.length, query.outcomes()]).toEqual([3, told('has finished. Its result:]\nall good')])
    await query.says('done')
    expect([query.end.result?.reason, query.statusOf(), query.outcomes().length]).toEqual([
      'completed',
      ['finished'],
      1,
    ])
  },
  async 'without room a call stays in its turn'() {
    const query = await detached({}, { maxBackground: 0 })
    expect([query.isDetached, query.held.requests.length]).toEqual([false, 1])
  },
  async 'an outcome that needs formatting is formatted, with and without hooks'() {
    for (const isHooked of [false, true]) {
      const { hook, say } = heldHook()
      const hooks = { PostToolUse: [{ hooks: [hook] }] }
      const query = await detached({}, isHooked ? { context: { hooks } } : {})
      await query.says('meanwhile')
      query.slow.run('a').finish({ data: { passed: 9 } })
      await flush()
      if (isHooked) {
        expect(query.outcomes()).toEqual([])
        say()
        await flush()
      }
      expect(query.outcomes()).toEqual(told('{"passed":9}'))
    }
  },
  async 'a failed body is tried again in the background'() {
    const query = await detached({ retry: { attempts: 2, backoffMs: 10 } })
    await query.says('meanwhile')
    query.slow.run('a').fail(new Error('once'))
    await flush()
    expect([query.slow.started, query.outcomes()]).toEqual([['a'], []])
    query.clock.increment(10)
    await flush()
    query.slow.run('a').finish({ data: 'twice' })
    await flush()
    expect([query.slow.started, query.outcomes()]).toEqual([['a', 'a'], told('twice')])
  },
  async 'the timeout of a body goes on, between attempts too, with and without hooks'() {
    for (const isHooked of [false, true]) {
      for (const phase of ['running', 'grace', 'between']) {
        const { hook, say } = heldHook()
        const hooks = { PostToolUseFailure: [{ hooks: [hook] }] }
        const retry = { attempts: 2, backoffMs: 500 }
        const query = await detached(
          { timeout: 100, ...(phase === 'between' && { retry }) },
          isHooked ? { context: { hooks } } : {},
        )
        await query.says('meanwhile')
        if (phase === 'between') query.slow.run('a').fail(new Error('once'))
        await flush()
        query.clock.increment(100)
        await flush()
        expect(query.signal.reason).toBe('timeout')
        if (phase === 'running') query.slow.run('a').finish()
        else query.clock.increment(50)
        await flush()
        if (isHooked) {
          expect([phase, query.outcomes()]).toEqual([phase, []])
          say()
          await flush()
        }
        expect([phase, query.outcomes()]).toEqual([phase, told('Timeout: the call took longer than 100 ms')])
      }
    }
  },
  async 'a stopped body has its grace period, and its outcome is told'() {
    for (const isObedient of [true, false]) {
      const query = await detached()
      await query.says('meanwhile')
      await query.stop()
      expect([query.signal.aborted, query.statusOf(), query.outcomes()]).toEqual([true, ['stopping'], []])
      if (isObedient) query.slow.run('a').finish({ data: 'so far' })
      else query.clock.increment(50)
      await flush()
      expect([query.statusOf(), query.outcomes()]).toEqual([
        ['stopped'],
        told(isObedient ? 'so far' : 'may still be running'),
      ])
    }
  },
  async 'a stop between two attempts needs no grace period'() {
    const query = await detached({ retry: { attempts: 2, backoffMs: 10 } })
    await query.says('meanwhile')
    query.slow.run('a').fail(new Error('once'))
    await flush()
    await query.stop()
    expect([query.signal.aborted, query.statusOf(), query.outcomes()]).toEqual([
      true,
      ['stopped'],
      told('It was stopped.'),
    ])
    query.clock.increment(10)
    await flush()
    expect(query.slow.started).toEqual(['a'])
  },
  async 'a stop does not wait for hooks or a store, and keeps the outcome'() {
    const { hook } = heldHook()
    const hooked = await detached({}, { context: { hooks: { PostToolUse: [{ hooks: [hook] }] } } })
    const storing = await detached(
      { maxResultSizeChars: 5 },
      { executor: { resultStore: { save: () => new Promise<never>(() => undefined) } as never } },
    )
    for (const query of [hooked, storing]) {
      await query.says('meanwhile')
      query.slow.run('a').finish({ data: { long: 'result' } })
      await flush()
      expect(query.outcomes()).toEqual([])
      await query.stop()
      expect(query.outcomes()).toEqual(told('has finished'))
    }
  },
  async 'the end of a query stops what runs, drops what has not ended, and leaves what may stay'() {
    for (const onEnd of ['stop', 'leave'] as const) {
      const query = await detached({ background: { awaited: false, onEnd } })
      await query.says('done')
      expect([onEnd, query.signal.aborted, query.end.result === undefined]).toEqual([
        onEnd,
        onEnd === 'stop',
        onEnd === 'stop',
      ])
      query.slow.run('a').finish()
      await flush()
      expect([query.end.result?.reason, query.outcomes(), query.statusOf()]).toEqual(['completed', [], []])
    }
  },
  async 'a body that is stopping may stay when the query ends'() {
    const query = await detached({ background: { awaited: false, onEnd: 'leave' } })
    await query.stop()
    await query.says('done')
    expect([query.end.result?.reason, query.statusOf()]).toEqual(['completed', []])
  },
  async 'an abort drops what is stopping, formatting or retrying'() {
    const { hook } = heldHook()
    const hooks = { PostToolUse: [{ hooks: [hook] }] }
    for (const phase of ['calling', 'stopping', 'postHooks', 'retrying']) {
      const query = await detached(
        phase === 'retrying' ? { retry: { attempts: 2, backoffMs: 10 } } : {},
        phase === 'postHooks' ? { context: { hooks } } : {},
      )
      await query.says('meanwhile')
      if (phase === 'stopping') await query.stop()
      if (phase === 'retrying') query.slow.run('a').fail(new Error('once'))
      if (phase === 'postHooks') query.slow.run('a').finish()
      await flush()
      query.run.abort('escape')
      await flush()
      if (phase === 'calling' || phase === 'stopping') query.slow.run('a').finish()
      await flush()
      expect([phase, query.end.result?.reason, query.outcomes(), query.statusOf()]).toEqual([
        phase,
        'aborted_tools',
        [],
        [],
      ])
    }
  },
  async 'a message and an interrupt wake a query that waits'() {
    for (const isInterrupt of [false, true]) {
      const query = await detached()
      await query.says('meanwhile')
      if (isInterrupt) query.run.interrupt('and now?')
      else query.run.send('and now?')
      await flush()
      expect([query.held.requests.length, query.signal.aborted]).toEqual([3, false])
    }
  },
  async 'phases without work are skipped'() {
    for (const [data, phases] of [
      ['plain', []],
      [{ n: 1 }, ['formatting']],
    ] as const) {
      const query = await detached()
      await query.says('meanwhile')
      query.slow.run('a').finish({ data })
      await flush()
      expect(query.phases).toEqual([phases])
    }
    const late = await detached({ timeout: 100, retry: { attempts: 2, backoffMs: 500 } })
    await late.says('meanwhile')
    late.slow.run('a').fail(new Error('once'))
    await flush()
    late.clock.increment(100)
    await flush()
    expect(late.phases).toEqual([['retrying', 'formatting']])
  },
  async 'an outcome of a reply that does not count is told to nobody'() {
    const slow = heldTool('Slow', { isReadOnly: () => true, startWhen: 'closed' })
    const query = testQuery([slow.tool], { retry: { attempts: 1, backoffMs: 5 } })
    await flush()
    query.held.start()
    query.held.call('a', 'Slow')
    await flush()
    query.run.detach('a')
    await flush()
    slow.run('a').finish()
    await flush()
    query.held.fail(Object.assign(new Error('busy'), { status: 529 }))
    await flush()
    query.clock.increment(5)
    await flush()
    expect([query.held.requests.length, inShort(query.run.transcript)]).toEqual([2, ['user: go']])
  },
  async 'with a log, an outcome is recorded before it is told'() {
    const log = new TestLog()
    const query = await detached({}, { journal: log })
    expect(log.types.filter((type) => type.startsWith('background') || type === 'call.completed')).toEqual([
      'background.started',
      'call.completed',
    ])
    await query.says('meanwhile')
    log.hold()
    query.slow.run('a').finish()
    await flush()
    expect([log.types.at(-1), query.held.requests.length]).toEqual(['background.finished', 2])
    log.release()
    await flush()
    expect([log.types.at(-1), query.held.requests.length]).toEqual(['background.delivered', 3])
    expect([query.outcomes().length, inShort(log.fold.transcript.messages)]).toEqual([
      1,
      inShort(query.run.transcript).slice(1),
    ])
  },
  async 'a query that waits can be suspended, and loses nothing when its log fails'() {
    for (const end of ['suspended', 'journal_error']) {
      const log = new TestLog()
      const query = await detached({}, { journal: log })
      await query.says('meanwhile')
      if (end === 'suspended') query.run.suspend(0)
      else log.fail()
      await flush()
      expect(query.signal.reason).toBe('suspend')
      query.slow.run('a').finish()
      await flush()
      expect([query.end.result?.reason, log.fold.background.get('bg_1')?.outcome]).toEqual([end, undefined])
    }
  },
  async 'a query that waits is suspended when the grace period of its suspension ends'() {
    const query = await detached({}, { journal: new TestLog() })
    query.held.start()
    query.run.suspend(5)
    query.held.text('meanwhile')
    query.held.end()
    await flush()
    expect([stateOf(query), query.signal.aborted]).toEqual(['awaiting', false])
    query.clock.increment(5)
    await flush()
    expect(query.signal.reason).toBe('suspend')
    query.slow.run('a').finish()
    await flush()
    expect(query.end.result?.reason).toBe('suspended')
  },
  async 'a call that is told to stop when it is over keeps its outcome'() {
    const now = heldTool('Now')
    const tool: AnyTool = {
      ...now.tool,
      call: (_input, context: ToolCallContext) => {
        context.detach?.()
        return { data: 'kept' } as never
      },
    }
    const query = testQuery([tool])
    query.run.on('tool_use_background', ({ backgroundID }) => void query.run.background.stop(backgroundID))
    await flush()
    query.held.start()
    query.held.call('a', 'Now')
    query.held.end('tool_use')
    await flush()
    expect(inShort(query.run.transcript).filter((line) => line.includes('Background call'))).toEqual(told('kept'))
  },
  async 'a background call of a process that is gone goes on: again, unknown, found out, or as the log has it'() {
    const again = recovered({ recover: () => 'again' })
    await flush()
    again.slow.run('a').finish({ data: 'again' })
    const unknown = recovered({})
    const found = recovered({ recover: () => ({ data: 'found out' }) })
    const logged = recovered({}, {}, 'as it was')
    await flush()
    expect([again.slow.started, again.slow.run('a').input]).toEqual([['a'], { n: 1 }])
    const runs = [again, unknown, found, logged]
    for (const run of runs) {
      run.held.start()
      run.held.text('ok')
      run.held.end()
      await flush()
    }
    expect(runs.map(({ outcomes }) => outcomes())).toEqual([
      told('\nagain'),
      told('The process stopped while this call was running.'),
      told('found out'),
      told('as it was'),
    ])
    expect(runs.map(({ log }) => log.fold.background.size)).toEqual([0, 0, 0, 0])
    expect(unknown.slow.started).toEqual([])
  },
  async 'a background call that is stopped while its tool finds out what became of it is unknown'() {
    const run = recovered({ recover: () => new Promise<never>(() => undefined) })
    await flush()
    expect(run.run.background.stop('bg_1')).toBe(true)
    await flush()
    expect(run.run.background.list()).toMatchObject([{ status: 'unknown' }])
  },
  async 'a body that nobody knows the end of has an unknown outcome, running or stopping'() {
    for (const isStopping of [false, true]) {
      const query = await detached()
      await query.says('meanwhile')
      if (isStopping) await query.stop()
      query.slow.run('a').fail(new UnknownOutcomeError('The worker is gone.'))
      await flush()
      expect([query.statusOf(), query.outcomes()]).toEqual([['unknown'], told('may or may not have taken effect')])
    }
  },
  async 'X5 keys that a call has named stay taken in shared locks until it is over; everything is given up'() {
    for (const key of ['file:/a', '*']) {
      const locks = createLocks()
      const query = await detached({ resources: () => ({ writes: [key] }) }, { context: { locks } })
      const held = () => locks.holders().map(({ writes }) => writes)
      expect(held()).toEqual(key === '*' ? [] : [['file:/a']])
      query.slow.run('a').finish()
      await flush()
      expect(held()).toEqual([])
    }
  },
}
