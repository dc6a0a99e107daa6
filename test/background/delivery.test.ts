import { describe, expect, it } from 'vitest'
import { backgroundTools } from '../../packages/tools/src/background.ts'
import { type JournalStore, memoryJournals, openSession } from '../../src/durable/index.ts'
import {
  type AnyTool,
  allowAllTools,
  backgroundOf,
  createSession,
  type SessionOptions,
  type ToolCallContext,
  type ToolResult,
} from '../../src/index.ts'
import { subAgent } from '../../src/query/sub-agent/index.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'
import { apiInShort, inShort, testQuery } from '../support/query.ts'
import { flush } from '../support/turn.ts'

type Call = readonly [id: string, name: string, input?: object]

function replies(held: ReturnType<typeof heldModel>) {
  return {
    calls: async (...named: Call[]) => {
      await flush()
      held.start()
      for (const [id, name, input] of named) held.call(id, name, input)
      held.end('tool_use')
      await flush()
    },
    says: async (text: string) => {
      await flush()
      held.start()
      held.text(text)
      held.end()
      await flush()
    },
  }
}

function inQuery(given: Parameters<typeof heldTool>[1] = {}, more: readonly AnyTool[] = []) {
  const clock = simulatedClock()
  const slow = heldTool('Slow', { safe: true, ...given })
  const test = testQuery([slow.tool, ...backgroundTools(), ...more], {
    canUseTool: allowAllTools,
    executor: { clock, abortGraceMs: 50 },
  })
  const told = () => tellings(inShort(test.run.transcript))
  const { calls, says } = replies(test.held)
  /** Its outcome is there, and nobody has read it. */
  const slowHasFinished = async () => {
    await calls(['a', 'Slow'])
    test.run.detach('a')
    await flush()
    slow.run('a').finish(outcome)
  }
  const endsToldOnce = async () => {
    expect(await test.result).toMatchObject({ reason: 'completed' })
    expect(told()).toHaveLength(1)
  }
  return { ...test, clock, slow, told, calls, says, slowHasFinished, endsToldOnce }
}

function inSession(given: Parameters<typeof heldTool>[1] = {}, more: Partial<SessionOptions> = {}) {
  const held = heldModel()
  const clock = simulatedClock()
  const slow = heldTool('Slow', { safe: true, ...given })
  const session = createSession({
    tools: [slow.tool, ...backgroundTools()],
    model: held.model,
    canUseTool: allowAllTools,
    executor: { clock, abortGraceMs: 50 },
    ...more,
  })
  return { session, held, clock, slow, told: () => tellings(inShort(session.transcript)), ...replies(held) }
}

/** Everywhere that the model is told what the body of `a` returned. */
const tellings = (lines: readonly string[]): string[] => lines.filter((line) => line.includes('THE OUTCOME'))
const outcome = { data: 'THE OUTCOME' }

/** A tool that reads an outcome and then does more. */
const reader = (held: ReturnType<typeof heldTool>): AnyTool => ({
  ...held.tool,
  call: async (input, context: ToolCallContext, canUse, message, onProgress) => {
    const reading = backgroundOf(context)?.readIn('bg_1', context)
    const result = (await held.tool.call(input, context, canUse, message, onProgress)) as ToolResult
    return { ...result, data: JSON.stringify(reading?.outcome?.[0]) }
  },
})

describe('the outcome of a background call reaches the model exactly once', () => {
  it('X3 read by BackgroundOutput: not delivered again', async () => {
    const { calls, says, told, slowHasFinished, endsToldOnce } = inQuery()
    await slowHasFinished()
    await calls(['r', 'BackgroundOutput', { id: 'bg_1' }])
    expect(told()).toEqual(['user: result r [bg_1: finished] Slow\nTHE OUTCOME'])
    await says('done')
    await endsToldOnce()
  })

  it('X3 read by a call that has been sent to the background itself', async () => {
    const { run, slow, calls, says, told, result, held } = inQuery()
    await calls(['a', 'Slow'])
    run.detach('a')
    await calls(['r', 'BackgroundOutput', { id: 'bg_1', waitMs: 1000 }])
    expect(run.detach('r')).toBe(true)
    await says('meanwhile')
    slow.run('a').finish(outcome)
    await says('done')
    expect(told()).toHaveLength(1)
    await says('and done')
    expect(await result).toMatchObject({ reason: 'completed' })
    expect([told().length, held.requests.length]).toEqual([1, 5])
  })

  it('X3 read by a call that goes to the background afterwards, and then fails', async () => {
    const check = heldTool('Check', { safe: true })
    const { run, calls, says, slowHasFinished, endsToldOnce } = inQuery({}, [reader(check)])
    await slowHasFinished()
    await calls(['r', 'Check'])
    run.detach('r')
    await says('meanwhile')
    check.run('r').fail(new Error('broke'))
    await says('so')
    await says('done')
    await endsToldOnce()
  })

  it('X3 read by a call that goes to the background afterwards, and then tells it', async () => {
    const check = heldTool('Check', { safe: true })
    const { run, calls, says, slowHasFinished, endsToldOnce } = inQuery({}, [reader(check)])
    await slowHasFinished()
    await calls(['r', 'Check'])
    run.detach('r')
    await says('meanwhile')
    check.run('r').finish()
    await says('done')
    await endsToldOnce()
  })

  it('X3 read by a call that has ended before: it is still delivered', async () => {
    const late = heldTool('Late', { cancel: true, safe: true })
    const { run, slow, calls, says, clock, endsToldOnce } = inQuery({}, [late.tool])
    await calls(['a', 'Slow'])
    run.detach('a')
    await calls(['r', 'Late'])
    const { context } = late.run('r')
    run.interrupt('something else')
    await flush()
    // its body ignores the signal and is left behind
    clock.increment(50)
    await flush()
    slow.run('a').finish(outcome)
    await flush()
    expect(backgroundOf(context)?.readIn('bg_1', context)?.outcome).toBeDefined()
    await says('well')
    await says('done')
    await endsToldOnce()
  })

  it('X3 read by two calls of a turn, one of which fails', async () => {
    const check = heldTool('Check', { safe: true })
    const { calls, says, slowHasFinished, endsToldOnce } = inQuery({}, [reader(check)])
    await slowHasFinished()
    await calls(['q', 'BackgroundOutput', { id: 'bg_1' }], ['r', 'Check'])
    check.run('r').fail(new Error('broke'))
    await says('done')
    await endsToldOnce()
  })

  it('X3 read in a reply that is discarded: delivered with the next one', async () => {
    const { held, says, told, clock, slowHasFinished, endsToldOnce } = inQuery({ isReadOnly: () => true })
    await slowHasFinished()
    await flush()
    held.start()
    held.call('r', 'BackgroundOutput', { id: 'bg_1' })
    await flush()
    held.fail(Object.assign(new Error('overloaded'), { status: 529 }))
    await flush()
    clock.increment(60_000)
    await says('done')
    await endsToldOnce()
    expect(told()[0]).toMatch(/^user: \[Background call bg_1/)
  })

  it('X3 X6 told to stop in the moment in which it ends: the outcome is not lost', async () => {
    const quick: AnyTool = {
      ...heldTool('Quick').tool,
      call: (_input, context: ToolCallContext) => {
        context.detach?.()
        // not a promise: it has ended before anybody hears that it went to the background
        return outcome as never
      },
    }
    const { run, calls, says, endsToldOnce } = inQuery({}, [quick])
    run.on('tool_use_background', ({ backgroundID }) => void run.background.stop(backgroundID))
    await calls(['a', 'Quick'])
    await says('done')
    await endsToldOnce()
  })
})

describe('what stops a background call, and what does not', () => {
  it('X4 onEnd leave: closing the session in the middle of a run leaves it alone', async () => {
    const { session, slow, calls } = inSession({ background: { awaited: false, onEnd: 'leave' } })
    session.send('go')
    await calls(['a', 'Slow'], ['b', 'Slow'])
    session.detach('a')
    session.detach('b', { onEnd: 'stop' })
    await flush()
    const closing = session.close()
    await flush()
    expect(slow.run('a').context.abortController.signal.aborted).toBe(false)
    expect(slow.run('b').context.abortController.signal.reason).toBe('session_closed')
    slow.run('b').finish()
    await closing
  })

  it('X6 aborted by its own body: told as stopped, with a grace period, and nothing else stops', async () => {
    const { run, slow, calls, says, clock, result } = inQuery()
    await calls(['a', 'Slow'], ['b', 'Slow'])
    run.detach('a')
    await flush()
    slow.run('a').context.abortController.abort('no use')
    await flush()
    expect(run.background.list()).toMatchObject([{ status: 'stopping' }])
    expect(slow.run('b').context.abortController.signal.aborted).toBe(false)
    clock.increment(50)
    await flush()
    expect(run.background.list()).toMatchObject([{ status: 'stopped' }])
    slow.run('b').finish()
    await says('done')
    expect(await result).toMatchObject({ reason: 'completed' })
  })

  it('X6 a denied call that ends the turn does not stop those of a session', async () => {
    const slow = heldTool('Slow')
    const { session, held, calls } = inSession(
      {},
      {
        tools: [slow.tool, heldTool('Pay').tool],
        canUseTool: ({ name }) =>
          name === 'Pay' ? { behavior: 'deny', message: 'no', interrupt: true } : { behavior: 'allow' },
      },
    )
    session.send('go')
    await calls(['a', 'Slow'])
    session.detach('a')
    await calls(['p', 'Pay'])
    expect([session.status, session.result?.reason]).toEqual(['idle', expect.stringContaining('aborted')])
    expect(slow.run('a').context.abortController.signal.aborted).toBe(false)
    slow.run('a').finish(outcome)
    await flush()
    session.send('and?')
    await flush()
    expect(tellings(apiInShort(held.requests.at(-1)?.messages ?? []))).toHaveLength(1)
    await session.close()
  })
})

describe('a suspension with background calls', () => {
  it('X4 D15a during the grace period of a suspension, the run parks, and is suspended when the grace ends', async () => {
    const held = heldModel()
    const clock = simulatedClock()
    const slow = heldTool('Slow', { safe: true })
    const session = await openSession({
      id: 's',
      journals: memoryJournals(),
      tools: [slow.tool],
      model: held.model,
      canUseTool: allowAllTools,
      executor: { clock, abortGraceMs: 50 },
    })
    const { calls } = replies(held)
    session.send('go')
    await calls(['a', 'Slow'])
    session.detach('a')
    await flush()
    held.start()
    held.text('wait')
    await flush()
    const suspending = session.suspend({ graceMs: 1_000 })
    held.end()
    await flush()
    await flush()
    expect([session.status, slow.run('a').context.abortController.signal.aborted]).toEqual(['running', false])
    clock.increment(1_000)
    await flush()
    expect(slow.run('a').context.abortController.signal.reason).toBe('suspend')
    slow.run('a').finish()
    await suspending
    expect(session.status).toBe('suspended')
    await session.close()
  })

  it('D15a a call in the background of an idle session has the grace too, then its signal, and no outcome is written', async () => {
    const journals = memoryJournals()
    const clock = simulatedClock()
    const slow = heldTool('Slow', { safe: true, background: { awaited: false } })
    const held = heldModel()
    const session = await openSession({
      id: 's',
      journals,
      tools: [slow.tool],
      model: held.model,
      canUseTool: allowAllTools,
      executor: { clock },
    })
    const { calls, says } = replies(held)
    const told: unknown[] = []
    session.on('background_finished', ({ id, status }) => told.push([id, status]))
    session.send('go')
    await calls(['a', 'Slow'], ['b', 'Slow'])
    for (const id of ['a', 'b']) session.detach(id)
    await says('Done.')
    expect(session.status).toBe('idle')
    const suspending = session.suspend({ graceMs: 1_000 })
    slow.run('a').finish()
    await flush()
    expect(slow.run('b').context.abortController.signal.aborted).toBe(false)
    clock.increment(1_000)
    await flush()
    expect(slow.run('b').context.abortController.signal.reason).toBe('suspend')
    slow.run('b').finish()
    await suspending
    const finished: unknown[] = []
    for await (const { t, id } of journals.read('s')) if (t === 'background.finished') finished.push(id)
    expect(finished).toEqual(['bg_1'])
    // once, when the log has the outcome; a call that was suspended is not over
    expect(told).toEqual([['bg_1', 'finished']])
    await session.close()
  })

  it('X6 D15 a question that waits for a person does not end a body in the background', async () => {
    const held = heldModel()
    const slow = heldTool('Slow', { safe: true })
    const pay = heldTool('Pay')
    const session = await openSession({
      id: 's',
      journals: memoryJournals(),
      tools: [slow.tool, pay.tool],
      model: held.model,
      canUseTool: ({ name }) => (name === 'Pay' ? { behavior: 'later' } : { behavior: 'allow' }),
    })
    const { calls } = replies(held)
    session.send('go')
    await calls(['a', 'Slow'])
    session.detach('a')
    await flush()
    await calls(['p', 'Pay'])
    await flush()
    expect([session.status, slow.run('a').context.abortController.signal.aborted]).toEqual(['running', false])
    slow.run('a').finish(outcome)
    for (let round = 0; round < 10; round++) await flush()
    // now nothing is under way
    expect([session.status, session.questions().length]).toEqual(['suspended', 1])
    await session.answer(session.questions()[0]?.id ?? '', { behavior: 'allow' })
    for (let round = 0; round < 10; round++) await flush()
    pay.run('p').finish()
    for (let round = 0; round < 10; round++) await flush()
    expect(tellings(apiInShort(held.requests.at(-1)?.messages ?? []))).toHaveLength(1)
    await session.close()
  })
})

describe('an agent in the background of a session with a journal', () => {
  function world(effects: string[], journals: JournalStore) {
    const inner = heldModel()
    const held = heldModel()
    const pay = heldTool('Pay')
    const agent = subAgent({ name: 'Agent', tools: [pay.tool], model: inner.model })
    const open = () =>
      openSession({
        id: 's',
        journals,
        tools: [agent],
        model: held.model,
        context: { permissions: { allow: ['Agent'] } },
      })
    return { inner, held, pay, open, effects, ...replies(held), inside: replies(inner) }
  }
  const settle = async () => {
    for (let round = 0; round < 12; round++) await flush()
  }

  it('X8 X9 D17 goes on with its own log, is suspended at its question, and goes on when it is answered', async () => {
    const journals = memoryJournals()
    const { held, inner, inside, pay, open, calls, says } = world([], journals)
    const session = await open()
    session.send('go')
    await calls(['outer', 'Agent', { prompt: 'pay' }])
    expect(session.detach('outer')).toBe(true)
    await says('the agent works')
    await inside.calls(['in', 'Pay'])
    await settle()
    // everything waits for a person
    expect([session.status, session.questions().length, session.result?.reason]).toEqual(['suspended', 1, 'suspended'])
    expect(await session.answer(session.questions()[0]?.id ?? '', { behavior: 'allow' })).toBe('accepted')
    await settle()
    expect(pay.started).toEqual(['in'])
    pay.run('in').finish()
    await settle()
    await inside.says('paid')
    await settle()
    await says('all paid')
    await settle()
    expect([session.status, session.result?.reason]).toEqual(['idle', 'completed'])
    expect(inShort(session.transcript).filter((line) => line.includes('has finished'))).toEqual([
      expect.stringMatching(/^user: \[Background call bg_1, Agent.*\npaid$/s),
    ])
    expect([inner.requests.length, held.requests.length]).toEqual([2, 3])
    await session.close()
  })
})
