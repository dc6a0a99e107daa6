import { allowAllTools, type ExecutorWarning, type Tool, toApiMessages } from 'signalbox'
import { memoryJournals, openSession } from 'signalbox/durable'
import { createRecorder, type Frame } from 'signalbox/inspect'
import {
  DidNotRunError,
  type RemoteCall,
  type RemoteResult,
  remote,
  type ToolRunner,
  UnknownOutcomeError,
} from 'signalbox/remote'
import { scriptedModel } from 'signalbox/scripted'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { frameProblem } from '../../src/inspect/frames/check-frame.ts'
import { testQuery } from '../support/query.ts'
import { flush, takeAll, takeReady, testTurn } from '../support/turn.ts'

/** A runner that keeps what it was given until the test decides. */
class HeldRunner implements ToolRunner {
  readonly calls: (RemoteCall & { finish(result: RemoteResult): void; fail(error: unknown): void })[] = []

  call(call: RemoteCall): Promise<RemoteResult> {
    return new Promise((resolve, reject) => {
      this.calls.push({ ...call, finish: resolve, fail: reject })
    })
  }

  get last() {
    const call = this.calls.at(-1)
    if (call === undefined) throw new Error('nothing was sent')
    return call
  }
}

const local = (change: Partial<Tool> = {}) => ({
  name: 'Far',
  inputSchema: z.looseObject({}),
  call: async () => {
    throw new Error('the body must not run here')
  },
  ...change,
})

const turn = (change: Partial<Tool> = {}, options: Parameters<typeof remote>[2] = {}, context: object = {}) => {
  const runner = new HeldRunner()
  const parts = testTurn([remote(local(change) as Tool, runner, options)], { context })
  const warnings: ExecutorWarning[] = []
  parts.executor.on('warning', (warning) => warnings.push(warning))
  return { ...parts, runner, warnings }
}

describe('remote(tool, runner)', () => {
  it('R1 R2 R12 sends input, id and the picked context, and takes the result as its own', async () => {
    const { add, executor, runner } = turn(
      {},
      { contextKeys: ['tenant', 'absent'] },
      { tenant: { id: 7 }, secret: 's' },
    )
    add('f', 'Far', { path: 'a', when: new Date(0) })
    expect(runner.last).toMatchObject({
      toolUseID: 'f',
      tool: { name: 'Far', version: undefined, schemaHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      input: { path: 'a', when: '1970-01-01T00:00:00.000Z' },
      context: { tenant: { id: 7 } },
      again: false,
      attach: false,
    })
    runner.last.onProgress('half')
    runner.last.finish({ data: 'whole', structuredOutput: { a: 1 } })
    await flush()
    const types = takeAll(executor).map(({ message }) => [message.type, JSON.stringify(message)])
    expect(types).toEqual([
      ['progress', expect.stringContaining('half')],
      ['user', expect.stringContaining('whole')],
      ['attachment', expect.stringContaining('structured_output')],
    ])
  })

  it('R2 the key names session, reply, call and attempt; a retry is another job', async () => {
    const keys: string[] = []
    for (const id of ['a', 'b']) {
      const { add, runner, clock } = turn({ retry: { attempts: 2 } })
      add(id, 'Far')
      runner.last.fail(new Error('once'))
      await flush()
      clock.increment(0)
      keys.push(...runner.calls.map(({ key }) => key))
    }
    expect([keys.length, new Set(keys).size]).toEqual([4, 4])
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{64}$/)
  })

  it('R2 R5 X4 in the background too, a retry is another job, and a stop leaves the worker a moment to report', async () => {
    const runner = new HeldRunner()
    const tools = [remote(local({ retry: { attempts: 2 } }) as Tool, runner)]
    const { run, held, clock } = testQuery(tools, { executor: { abortGraceMs: 50 } })
    await flush()
    held.start()
    held.call('a', 'Far')
    held.end('tool_use')
    await flush()
    runner.last.onPlace({ place: 'sent' })
    expect(run.detach('a')).toBe(true)
    await flush()
    runner.last.fail(new Error('once'))
    await flush()
    clock.increment(10_000)
    await flush()
    expect(new Set(runner.calls.map(({ key }) => key)).size).toBe(2)
    runner.last.onPlace({ place: 'remote', worker: 'w2' })
    run.background.stop('bg_1')
    await flush()
    clock.increment(50)
    await flush()
    expect(run.background.list()).toMatchObject([{ status: 'stopping' }])
    runner.last.fail(new Error('killed'))
    await flush()
    expect(run.background.list()).toMatchObject([{ status: 'stopped' }])
  })

  it('R2 the error of the tool is the error of the call', async () => {
    const { add, executor, runner } = turn()
    add('f', 'Far')
    runner.last.fail(new RangeError('no such row'))
    await flush()
    expect(takeReady(executor)[0]?.[1]).toContain('no such row')
  })

  it('R11 D12 an unknown outcome is told as such, with the reason in telemetry', async () => {
    const { add, executor, runner } = turn({ retry: { attempts: 5 } })
    const told: unknown[] = []
    executor.on('tool_use_unknown', (event) => told.push(event))
    add('f', 'Far')
    const error = new UnknownOutcomeError('The worker is gone.')
    runner.last.fail(error)
    await flush()
    expect(takeReady(executor)).toEqual([['f', expect.stringContaining('It may or may not have taken effect')]])
    expect(runner.calls).toHaveLength(1)
    expect(told).toMatchObject([{ toolUseID: 'f', error }])
  })

  it('R3 only a call whose tool says so may run again', () => {
    for (const [isReadOnly, again] of [
      [() => true, true],
      [() => false, false],
      [
        () => {
          throw new Error('no idea')
        },
        false,
      ],
    ] as const) {
      const { add, runner } = turn({ isReadOnly })
      add('f', 'Far')
      expect(runner.last.again).toBe(again)
    }
  })

  it('R12 a context modifier that stays behind is a warning', async () => {
    const { add, runner, warnings } = turn()
    add('f', 'Far')
    runner.last.finish({ data: 1, dropped: ['contextModifier'] })
    await flush()
    expect(warnings).toMatchObject([{ code: 'not_remote', toolUseID: 'f' }])
  })

  it('R13 an input that is too long, or no JSON, does not run', async () => {
    for (const input of [{ text: 'é'.repeat(600_000) }, { count: 1n }, { self: cyclic() }]) {
      const { add, executor, runner } = turn({ normalizeInput: () => input })
      add('f', 'Far')
      await flush()
      expect(takeReady(executor)[0]?.[1]).toContain('The call did not run')
      expect(runner.calls).toEqual([])
    }
  })

  it('R13 a result that the worker stored is a reference, also for a tool with its own format', async () => {
    const stored = { path: '/results/7.txt', size: 900_000, head: 'HEAD', tail: 'TAIL' }
    const mapResult: Tool['mapResult'] = (data, id) => ({ type: 'tool_result', tool_use_id: id, content: `<${data}>` })
    for (const change of [{}, { mapResult }]) {
      const { add, executor, runner } = turn(change)
      add('f', 'Far')
      runner.last.finish({ stored })
      await flush()
      expect(takeReady(executor)[0]?.[1]).toMatch(/900000 characters[\s\S]*\/results\/7\.txt[\s\S]*HEAD[\s\S]*TAIL/)
    }
  })

  it('R6 the time that a tool allows counts from pick-up', async () => {
    const { add, executor, runner, clock } = turn({ timeout: 50 })
    add('f', 'Far')
    runner.last.onPlace({ place: 'sent' })
    clock.increment(500)
    await flush()
    expect(runner.last.signal.aborted).toBe(false)
    runner.last.onPlace({ place: 'remote', worker: 'w1' })
    clock.increment(49)
    expect(runner.last.signal.aborted).toBe(false)
    clock.increment(1)
    expect(runner.last.signal.reason).toBe('timeout')
    runner.last.fail(new Error('killed'))
    await flush()
    expect(takeReady(executor)[0]?.[1]).toContain('took longer than 50 ms')
  })

  it('R5 the body that is stopped has its grace, and its worker a moment to report', async () => {
    const { add, executor, runner, clock, warnings } = turn()
    add('f', 'Far')
    runner.last.onPlace({ place: 'remote', worker: 'w1' })
    executor.abort('escape')
    clock.increment(runner.last.abortGraceMs)
    await flush()
    expect(warnings).toEqual([])
    runner.last.fail(new Error('killed'))
    await flush()
    expect(takeReady(executor)[0]?.[1]).toContain('nothing more was done')
  })

  it('R5 a call that nobody had taken did not run', async () => {
    const { add, executor, runner } = turn()
    add('f', 'Far')
    executor.abort('escape')
    runner.last.fail(new DidNotRunError('it waited'))
    await flush()
    expect(takeReady(executor)[0]?.[1]).toContain('before it started')
  })

  it('the recorder shows where a call runs and on which worker, also to one that comes late', async () => {
    const { add, executor, runner } = turn()
    const recorded = () => {
      const frames: Frame[] = []
      createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor)
      return frames
    }
    const early = recorded()
    add('f', 'Far')
    runner.last.onPlace({ place: 'sent' })
    runner.last.onPlace({ place: 'sent', waiting: 3 })
    runner.last.onPlace({ place: 'remote', worker: 'gpu-1' })
    const late = recorded()
    runner.last.onPlace({ place: 'lost', worker: 'gpu-1' })
    const places = (frames: readonly Frame[]) =>
      frames.flatMap((frame) => (frame.type === 'place' ? [[frame.place, frame.worker, frame.waiting]] : []))
    expect([places(early), places(late)]).toEqual([
      [
        ['sent', null, null],
        ['sent', null, 3],
        ['remote', 'gpu-1', null],
        ['lost', 'gpu-1', null],
      ],
      [
        ['remote', 'gpu-1', null],
        ['lost', 'gpu-1', null],
      ],
    ])
    expect(early.map(frameProblem)).toEqual(early.map(() => undefined))
    runner.last.finish({ data: 'x' })
    await flush()
    runner.last.onPlace({ place: 'remote', worker: 'too late' })
    expect(places(early)).toHaveLength(4)
  })

  it.each([
    [{ contextKeys: 'a' }, /contextKeys: expected an array/],
    [{ context: [] }, /Unknown option context/],
  ])('refuses %j', (options, problem) => {
    expect(() => remote(local() as Tool, new HeldRunner(), options as never)).toThrow(problem)
  })

  it('R10 after a crash, a call attaches to its job under the same key and never sends it twice', async () => {
    const journals = memoryJournals()
    const first = new HeldRunner()
    const open = (runner: ToolRunner, owner: string, script: Parameters<typeof scriptedModel>[0]) =>
      openSession({
        id: 's',
        journals,
        owner,
        tools: [remote(local() as Tool, runner)],
        model: scriptedModel(script),
        canUseTool: allowAllTools,
      })
    const crashed = await open(first, 'one', [[{ call: 'Far', id: 'c1', input: { a: 1 } }]])
    void drain(crashed.send('go'))
    await expect.poll(() => first.calls.length).toBe(1)
    const second = new HeldRunner()
    const resumed = await open(second, 'two', ['done'])
    const rest = drain(resumed.resume())
    await expect.poll(() => second.calls.length).toBe(1)
    expect([second.last.key, second.last.attach, second.last.input]).toEqual([first.last.key, true, { a: 1 }])
    second.last.finish({ data: 'from the first life' })
    expect(JSON.stringify(await rest)).toContain('from the first life')
    await resumed.close()
  })

  it.each([
    ['its job', (call: HeldRunner['last']) => call.finish({ data: 'from the first life' }), 'from the first life'],
    [
      'a job that is gone',
      (call: HeldRunner['last']) => call.fail(new UnknownOutcomeError('gone')),
      'It may or may not',
    ],
  ])('X9 R10 a background call attaches again after each crash, to %s, and is told once', async (_, end, expected) => {
    const journals = memoryJournals()
    const life = async (owner: string, script: Parameters<typeof scriptedModel>[0]) => {
      const runner = new HeldRunner()
      const tools = [remote(local() as Tool, runner)]
      const session = await openSession({
        id: 's',
        journals,
        owner,
        tools,
        model: scriptedModel(script),
        canUseTool: allowAllTools,
      })
      return { runner, session }
    }
    const first = await life('one', [[{ call: 'Far', id: 'c1', input: { a: 1 } }], 'Waiting.'])
    void drain(first.session.send('go'))
    await expect.poll(() => first.runner.calls.length).toBe(1)
    expect([first.session.detach('c1'), first.runner.last.attach]).toEqual([true, false])
    await expect.poll(() => JSON.stringify(first.session.transcript)).toContain('Waiting.')
    const second = await life('two', ['Waiting again.'])
    void drain(second.session.resume())
    await expect.poll(() => second.runner.calls.length).toBe(1)
    const third = await life('three', ['Done.'])
    const rest = drain(third.session.resume())
    await expect.poll(() => third.runner.calls.length).toBe(1)
    for (const { runner } of [second, third]) {
      const { key, attach, input } = runner.last
      expect([key, attach, input]).toEqual([first.runner.last.key, true, { a: 1 }])
    }
    end(third.runner.last)
    await rest
    const told = JSON.stringify(toApiMessages(third.session.transcript))
    expect([told.split(expected).length - 1, third.session.result?.reason]).toEqual([1, 'completed'])
    expect([first, second, third].map(({ runner }) => runner.calls.length)).toEqual([1, 1, 1])
    await third.session.close()
  })

  it.each([
    ['its turn is open', undefined, '"go"'],
    ['its run waits for it', undefined, 'Waiting.'],
    ['no run is active', { awaited: false }, 'Waiting.'],
  ])('D15a R10 a remote background call runs on through a suspension while %s, and the next life attaches to it', async (_, background, reached) => {
    const journals = memoryJournals()
    const life = async (owner: string, script: Parameters<typeof scriptedModel>[0]) => {
      const runner = new HeldRunner()
      const tools = [remote(local({ background }) as Tool, runner)]
      const canUseTool = allowAllTools
      const session = await openSession({ id: 's', journals, owner, tools, model: scriptedModel(script), canUseTool })
      return { runner, session }
    }
    const first = await life('one', [[{ call: 'Far', id: 'c1', input: { a: 1 } }], 'Waiting.'])
    first.session.send('go')
    await expect.poll(() => first.runner.calls.length).toBe(1)
    first.runner.last.onPlace({ place: 'remote', worker: 'w1' })
    first.session.detach('c1')
    await expect.poll(() => JSON.stringify(first.session.transcript)).toContain(reached)
    if (background !== undefined) await first.session.whenIdle()
    await first.session.suspend()
    await first.session.close()
    expect(first.runner.last.signal.aborted).toBe(false)
    first.runner.last.finish({ data: 'nobody listens here any more' })
    const second = await life('two', ['Done.', 'Done.', 'Done.'])
    const rest = drain(background === undefined ? second.session.resume() : second.session.send('and?'))
    await expect.poll(() => second.runner.calls.length).toBe(1)
    expect([second.runner.last.key, second.runner.last.attach]).toEqual([first.runner.last.key, true])
    second.runner.last.finish({ data: 'THE OUTCOME' })
    await rest
    const log = async () => JSON.stringify(await drain(journals.read('s')))
    await expect.poll(log).toContain('THE OUTCOME')
    expect(await log()).not.toContain('nobody listens')
    await second.session.close()
  })

  /** One remote call in the background, and one that the turn waits for. */
  const twoCalls = async () => {
    const journals = memoryJournals()
    const runner = new HeldRunner()
    const tools = [remote(local({ background: { awaited: false } }) as Tool, runner)]
    const model = scriptedModel([[{ call: 'Far', id: 'c1', input: {} }], [{ call: 'Far', id: 'c2', input: {} }], 'Ok.'])
    const open = (owner: string) => openSession({ id: 's', journals, owner, tools, model, canUseTool: allowAllTools })
    const session = await open('one')
    session.send('go')
    await expect.poll(() => runner.calls.length).toBe(1)
    runner.last.onPlace({ place: 'remote', worker: 'w1' })
    session.detach('c1')
    await expect.poll(() => runner.calls.length).toBe(2)
    runner.last.onPlace({ place: 'remote', worker: 'w1' })
    const told = () => runner.calls.map(({ signal: { aborted, reason } }) => (aborted ? reason : 'goes on'))
    return { session, runner, told, open }
  }

  it('D10 R10 an owner that was replaced leaves its background jobs alone, and tells runners why other calls stop', async () => {
    const { session, runner, told, open } = await twoCalls()
    const next = await open('two')
    session.send('too late')
    await expect.poll(() => told()[1]).toBe('suspend')
    runner.last.fail(new UnknownOutcomeError('left'))
    await session.whenIdle()
    expect(session.result).toMatchObject({ reason: 'journal_error', error: { code: 'session_fenced' } })
    expect(told()).toEqual(['goes on', 'suspend'])
    await next.close()
  })

  it.each([
    ['while a run is active, it suspends: remote calls in the background go on', true, 'goes on'],
    ['while no run is active, remote calls in the background are stopped', false, 'session_closed'],
  ])('X4 D15a if a session is closed %s', async (_, isActive, expected) => {
    const { session, runner, told } = await twoCalls()
    if (!isActive) {
      runner.last.finish({ data: 'x' })
      await session.whenIdle()
    }
    const closed = session.close()
    await expect.poll(told).toEqual([expected, isActive ? 'suspend' : 'goes on'])
    for (const { signal, fail } of runner.calls) if (signal.aborted) fail(new UnknownOutcomeError('stopped'))
    await closed
  })
})

function cyclic(): object {
  const self: Record<string, unknown> = {}
  self.self = self
  return self
}

async function drain(messages: AsyncIterable<unknown>): Promise<unknown[]> {
  const seen: unknown[] = []
  for await (const message of messages) seen.push(message)
  return seen
}
