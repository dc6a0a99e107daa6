import { expect } from 'vitest'
import { SignalboxError } from '../../../src/base/signalbox-error.ts'
import { type Query, type QueryOptions, type QueryResult, query } from '../../../src/index.ts'
import type { SessionRecord } from '../../../src/journal/records.ts'
import { recordedCallOf } from '../../../src/pipeline/recorded-call.ts'
import { heldModel } from '../../support/held-model.ts'
import { heldTool } from '../../support/held-tool.ts'
import { blockRecord, openedReply, stoppedRecord } from '../../support/log-records.ts'
import { inShort, testQuery } from '../../support/query.ts'
import { TestLog } from '../../support/test-log.ts'
import { flush } from '../../support/turn.ts'

const wrong = Object.assign(new Error('wrong'), { status: 400 })
const busy = Object.assign(new Error('busy'), { status: 529 })
const fenced = new SignalboxError('session_fenced', 'Another owner.')

/** A run of a session whose log is the test's. */
const parts = (before: readonly SessionRecord[] = [], options: Partial<QueryOptions> = {}) => {
  const log = new TestLog(before)
  const write = heldTool('Write')
  const quick = heldTool('Quick', { startWhen: 'closed' })
  const messages = before.length > 0 ? log.fold.transcript.messages : 'go'
  const all = testQuery([write.tool, quick.tool], { messages, journal: log, ...options })
  const end: { result?: QueryResult } = {}
  void all.result.then((result) => {
    end.result = result
  })
  return { ...all, log, write, quick, end }
}

type Parts = ReturnType<typeof parts>

const asked = async (options: Partial<QueryOptions> = {}): Promise<Parts> => {
  const run = parts([], options)
  await flush()
  run.held.start()
  return run
}

const running = async (options: Partial<QueryOptions> = {}): Promise<Parts> => {
  const run = await asked(options)
  run.held.call('w', 'Write')
  run.held.end('tool_use')
  await flush()
  expect(run.write.started).toEqual(['w'])
  return run
}

/** A run that waits for `prepareMessages`. */
const unprepared = (): Parts & { goOn: () => void } => {
  let prepared = (): void => undefined
  const prepareMessages: QueryOptions['prepareMessages'] = (messages) =>
    new Promise((resolve) => {
      prepared = () => resolve(messages)
    })
  return { ...parts([], { prepareMessages }), goOn: () => prepared() }
}

/** What a run says first, without waiting for one that says nothing. */
const first = (run: Query): Promise<{ done?: boolean | undefined }> =>
  Promise.race([run.next(), flush().then(() => ({ done: undefined }))])

const endOf = ({ end, held }: Parts) => [end.result?.reason, held.requests.length]
const notices = ({ seen }: Parts) =>
  seen.flatMap((message) => (message.type === 'system' && message.subtype === 'result_not_recorded' ? [message] : []))

/** Runs of a session: they go on from their log, are suspended, and end when it fails. */
export const durableQueriesScenarios: Record<string, () => Promise<void>> = {
  async 'a run goes on with the turn of its log: its results, then the next request'() {
    const run = parts([...openedReply(blockRecord('w', 'Write')), stoppedRecord])
    await flush()
    expect([run.held.requests.length, run.write.started]).toEqual([0, ['w']])
    run.write.run('w').finish()
    await flush()
    expect(inShort(run.run.transcript)).toEqual(['user: go', 'assistant: call w Write {}', 'user: result w w done'])
    expect(run.held.requests).toHaveLength(1)
  },
  async 'a run whose turn is over decides what follows: another request, or the end'() {
    const completed = blockRecord('w', 'Write')
    const committed: SessionRecord = { t: 'turn.committed', reply: 'r1', isPaused: false }
    const result: SessionRecord = { t: 'call.completed', reply: 'r1', call: 'w', messages: [resultMessage('w')] }
    const another = parts([...openedReply(completed), result, stoppedRecord, committed])
    await flush()
    expect(endOf(another)).toEqual([undefined, 1])
    const text = blockRecord('', '', 'hello')
    const over = parts([...openedReply(text), { ...stoppedRecord, stopReason: 'end_turn' }, committed])
    await flush()
    expect([endOf(over), inShort(over.run.transcript)]).toEqual([
      ['completed', 0],
      ['user: go', 'assistant: hello'],
    ])
  },
  async 'a reply without effects that was cut off is asked for again'() {
    const run = parts(openedReply(blockRecord('w', 'Write')))
    await flush()
    expect([run.held.requests.length, run.write.started, run.log.types.at(-1)]).toEqual([1, [], 'attempt.discarded'])
  },
  async 'an abort before the start of a run that has an open turn keeps what was done'() {
    const controller = new AbortController()
    controller.abort('early')
    const result: SessionRecord = { t: 'call.completed', reply: 'r1', call: 'w', messages: [resultMessage('w')] }
    const records = [...openedReply(blockRecord('w', 'Write'), blockRecord('v', 'Write')), result, stoppedRecord]
    const run = parts(records, { context: { abortController: controller } })
    await flush()
    expect([endOf(run), run.write.started]).toEqual([['aborted_streaming', 0], []])
    expect(inShort(run.run.transcript).slice(3, 5)).toEqual([
      'user: result w fine',
      expect.stringContaining('user: result v'),
    ])
  },
  async 'a run that is suspended while nothing is under way ends at once'() {
    const log = new TestLog()
    const idle = query({ messages: 'go', tools: [], model: heldModel().model, journal: log })
    idle.suspend(5)
    expect([(await first(idle)).done, idle.result?.reason]).toEqual([true, 'suspended'])
    for (const isInterrupted of [false, true]) {
      const preparing = unprepared()
      await flush()
      if (isInterrupted) preparing.run.interrupt('wait')
      preparing.run.suspend(5)
      preparing.goOn()
      await flush()
      expect(endOf(preparing)).toEqual(['suspended', 0])
    }
    const retrying = await asked({ retry: { attempts: 1, backoffMs: 5 } })
    retrying.held.fail(busy)
    await flush()
    retrying.run.suspend(5)
    await flush()
    expect([endOf(retrying), retrying.log.types.at(-1)]).toEqual([['suspended', 1], 'run.suspended'])
  },
  async 'what is under way may go on until the grace period ends'() {
    const streaming = await asked()
    streaming.held.text('half')
    streaming.run.suspend(5)
    await flush()
    expect(endOf(streaming)).toEqual([undefined, 1])
    streaming.clock.increment(5)
    await flush()
    expect(endOf(streaming)).toEqual(['suspended', 1])
    const draining = await running()
    draining.run.suspend(5)
    await flush()
    expect(endOf(draining)).toEqual([undefined, 1])
    draining.clock.increment(5)
    await flush()
    const { signal } = draining.write.run('w').context.abortController
    expect([signal.reason, endOf(draining)]).toEqual(['suspend', [undefined, 1]])
    draining.write.run('w').finish()
    await flush()
    expect([endOf(draining), draining.log.types.at(-2)]).toEqual([['suspended', 1], 'reply.stopped'])
  },
  async 'a turn that ends within the grace period is followed by no other'() {
    const run = await running()
    run.run.suspend(5)
    run.write.run('w').finish()
    await flush()
    expect([endOf(run), run.log.types.slice(-2)]).toEqual([
      ['suspended', 1],
      ['turn.committed', 'run.suspended'],
    ])
    const salvaged = await asked({ retry: { attempts: 1, backoffMs: 5 } })
    salvaged.held.call('q', 'Quick')
    await flush()
    salvaged.held.fail(busy)
    await flush()
    salvaged.run.suspend(5)
    salvaged.quick.run('q').finish()
    await flush()
    expect(endOf(salvaged)).toEqual(['suspended', 1])
  },
  async 'a reply that fails within the grace period is not asked for again'() {
    const run = await asked({ retry: { attempts: 1, backoffMs: 5 } })
    run.run.suspend(50)
    run.held.fail(busy)
    await flush()
    run.clock.increment(50)
    await flush()
    expect([endOf(run), run.log.types.at(-1)]).toEqual([['suspended', 1], 'run.suspended'])
  },
  async 'another suspension sets another grace period'() {
    const run = await running()
    run.run.suspend(1_000)
    run.run.suspend(5)
    run.clock.increment(5)
    await flush()
    expect(run.write.run('w').context.abortController.signal.reason).toBe('suspend')
    run.write.run('w').finish()
    await flush()
    expect(endOf(run)).toEqual(['suspended', 1])
  },
  async 'the rest of a reply that broke off is halted after the grace period, too'() {
    const run = await asked({ retry: { attempts: 1, backoffMs: 5 } })
    run.held.call('q', 'Quick')
    await flush()
    run.held.fail(busy)
    await flush()
    run.run.suspend(5)
    run.clock.increment(5)
    await flush()
    run.quick.run('q').finish()
    await flush()
    expect([endOf(run), run.log.types.includes('turn.committed')]).toEqual([['suspended', 1], false])
  },
  async 'a run in which every call waits for a person is suspended'() {
    const run = await asked({ canUseTool: () => ({ behavior: 'later' }) })
    run.held.call('w', 'Write')
    await flush()
    expect(endOf(run)).toEqual([undefined, 1])
    run.held.end('tool_use')
    await flush()
    expect([endOf(run), run.log.fold.questions.size]).toEqual([['suspended', 1], 1])
  },
  async 'a call that was queued at an interrupt may ask: the run is suspended, while streaming and while tools run'() {
    const canUseTool: QueryOptions['canUseTool'] = ({ name }) => ({ behavior: name === 'Quick' ? 'allow' : 'later' })
    for (const isStreaming of [true, false]) {
      const run = await asked({ canUseTool })
      run.held.call('q', 'Quick')
      run.held.call('w', 'Write')
      if (isStreaming) run.held.call('x', 'Write')
      else run.held.end('tool_use')
      await flush()
      run.run.interrupt()
      run.quick.run('q').finish()
      await flush()
      expect([endOf(run), run.log.fold.questions.size]).toEqual([['suspended', 1], 1])
    }
  },
  async 'calls that an interrupt lets go on are halted after the grace period, while streaming and while tools run'() {
    for (const isStreaming of [true, false]) {
      for (const isSuspendedFirst of [true, false]) {
        const run = await asked()
        run.held.call('w', 'Write')
        if (isStreaming) run.held.text('more')
        else run.held.end('tool_use')
        await flush()
        if (isSuspendedFirst) run.run.suspend(5)
        run.run.interrupt()
        if (!isSuspendedFirst) run.run.suspend(5)
        await flush()
        expect(run.write.run('w').context.abortController.signal.aborted).toBe(false)
        run.clock.increment(5)
        await flush()
        expect(run.write.run('w').context.abortController.signal.reason).toBe('suspend')
        run.write.run('w').finish()
        await flush()
        expect([endOf(run), run.log.types.includes('call.completed')]).toEqual([['suspended', 1], false])
      }
    }
  },
  async 'a run that was stopped for good is not suspended: its calls get their results'() {
    for (const isStreaming of [true, false]) {
      const run = await asked()
      run.held.call('w', 'Write')
      if (isStreaming) run.held.text('more')
      else run.held.end('tool_use')
      await flush()
      run.run.suspend(5)
      run.run.abort('stop')
      run.run.suspend(5)
      run.clock.increment(5)
      await flush()
      run.write.run('w').finish()
      await flush()
      expect(endOf(run)).toEqual([isStreaming ? 'aborted_streaming' : 'aborted_tools', 1])
    }
  },
  async 'a question that is open when the model fails for good is kept: the run is suspended'() {
    const run = await asked({ canUseTool: () => ({ behavior: 'later' }) })
    run.held.call('q', 'Quick')
    await flush()
    run.held.fail(wrong)
    await flush()
    expect([endOf(run), run.log.fold.questions.size]).toEqual([['suspended', 1], 1])
  },
  async 'after an error of the model, what still runs may go on until the grace period of a suspension ends'() {
    const run = await asked()
    run.held.call('q', 'Quick')
    await flush()
    run.held.fail(wrong)
    await flush()
    run.run.suspend(5)
    await flush()
    expect(endOf(run)).toEqual([undefined, 1])
    run.clock.increment(5)
    await flush()
    const { signal } = run.quick.run('q').context.abortController
    expect(signal.reason).toBe('suspend')
    run.quick.run('q').finish()
    await flush()
    expect([endOf(run), run.log.types.includes('turn.committed')]).toEqual([['suspended', 1], false])
  },
  async 'the rest of a reply that broke off waits for a person inside an agent: the run is suspended'() {
    const run = await asked({ retry: { attempts: 1, backoffMs: 5 } })
    run.held.call('q', 'Quick')
    await flush()
    run.held.fail(busy)
    await flush()
    expect(endOf(run)).toEqual([undefined, 1])
    const recorded = recordedCallOf(run.quick.run('q').context)
    if (recorded !== undefined) recorded.isSuspended = true
    await flush()
    run.quick.run('q').finish()
    await flush()
    expect(endOf(run)).toEqual(['suspended', 1])
  },
  async 'a log that fails ends a run that has nothing under way'() {
    const failed = new TestLog()
    failed.fail()
    const idle = parts([], { journal: failed })
    await flush()
    expect(endOf(idle)).toEqual(['journal_error', 0])
    for (const isInterrupted of [false, true]) {
      const preparing = unprepared()
      await flush()
      if (isInterrupted) preparing.run.interrupt('wait')
      preparing.log.fail()
      preparing.goOn()
      await flush()
      expect(endOf(preparing)).toEqual(['journal_error', 0])
    }
    const retrying = await asked({ retry: { attempts: 1, backoffMs: 5 } })
    retrying.held.fail(busy)
    await flush()
    retrying.log.fail()
    retrying.clock.increment(5)
    await flush()
    expect(endOf(retrying)).toEqual(['journal_error', 1])
  },
  async 'a log that fails while something runs: it ends first, and is no result'() {
    const draining = await running()
    draining.log.fail()
    await flush()
    expect(endOf(draining)).toEqual([undefined, 1])
    draining.write.run('w').finish()
    await flush()
    expect([endOf(draining), notices(draining).length]).toEqual([['journal_error', 1], 1])
    const streaming = await asked()
    streaming.held.call('q', 'Quick')
    await flush()
    streaming.log.fail()
    await flush()
    streaming.held.end('tool_use')
    streaming.quick.run('q').finish()
    await flush()
    expect([endOf(streaming), notices(streaming).length]).toEqual([['journal_error', 1], 1])
    const salvaging = await asked({ retry: { attempts: 1, backoffMs: 5 } })
    salvaging.held.call('q', 'Quick')
    await flush()
    salvaging.held.fail(busy)
    await flush()
    salvaging.log.fail()
    salvaging.quick.run('q').finish()
    await flush()
    salvaging.clock.increment(5)
    await flush()
    expect(endOf(salvaging)).toEqual(['journal_error', 1])
  },
  async 'a run that is ending and loses its session hands over nothing more'() {
    const ways: ((run: Parts) => void)[] = [
      ({ run }) => run.abort('escape'),
      ({ held }) => held.fail(Object.assign(new Error('wrong'), { status: 400 })),
    ]
    for (const way of ways) {
      const run = await asked()
      run.held.call('q', 'Quick')
      await flush()
      way(run)
      await flush()
      run.log.fail(fenced)
      await flush()
      run.quick.run('q').finish()
      await flush()
      expect([endOf(run), notices(run)]).toEqual([['journal_error', 1], []])
    }
    const tools = await running()
    tools.run.abort('escape')
    await flush()
    tools.log.fail(fenced)
    await flush()
    tools.write.run('w').finish()
    await flush()
    expect([endOf(tools), notices(tools)]).toEqual([['journal_error', 1], []])
  },
}

const resultMessage = (id: string) =>
  ({
    type: 'user',
    uuid: `result ${id}`,
    timestamp: '',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'fine' }] },
    sourceToolAssistantUUID: `block ${id}`,
  }) as const as never
