import { describe, expect, it } from 'vitest'
import { memoryJournals, openSession } from '../../../src/durable/index.ts'
import { allowAllTools, createSession, type SessionOptions } from '../../../src/index.ts'
import { subAgent } from '../../../src/query/sub-agent/index.ts'
import { checkTranscript } from '../../../src/transcripts/index.ts'
import { heldModel } from '../../support/held-model.ts'
import { heldTool } from '../../support/held-tool.ts'
import { apiInShort, inShort } from '../../support/query.ts'
import { flush } from '../../support/turn.ts'

function parts(given: Parameters<typeof heldTool>[1] = {}) {
  const held = heldModel()
  const slow = heldTool('Slow', given)
  const options: SessionOptions = { tools: [slow.tool], model: held.model, canUseTool: allowAllTools }
  const calls = async (id: string) => {
    await flush()
    held.start()
    held.call(id, 'Slow')
    held.end('tool_use')
    await flush()
  }
  const says = async (text: string) => {
    await flush()
    held.start()
    held.text(text)
    held.end()
    await flush()
  }
  return { held, slow, options, calls, says }
}

const server = { background: { awaited: false } } as const
const outcomesOf = (lines: readonly string[]): string[] => lines.filter((line) => line.includes('Background call'))

describe('the background calls of a session', () => {
  it('X4 S3 outlive a run, and their outcomes precede the next prompt', async () => {
    const { held, slow, options, calls, says } = parts(server)
    const session = createSession(options)
    const finished: unknown[] = []
    session.on('background_finished', ({ id, toolUseID, toolName, status }) => {
      finished.push([id, toolUseID, toolName, status, session.status])
      throw new Error('a listener that fails')
    })
    session.send('start the server')
    await calls('a')
    expect(session.detach('a')).toBe(true)
    await says('it runs')
    expect([session.status, session.result?.reason]).toEqual(['idle', 'completed'])
    expect(slow.run('a').context.abortController.signal.aborted).toBe(false)
    slow.run('a').finish({ data: 'port is taken' })
    await flush()
    expect(held.requests).toHaveLength(2)
    // nobody has to ask for it
    expect(finished).toEqual([['bg_1', 'a', 'Slow', 'finished', 'idle']])
    session.send('how is it?')
    await flush()
    expect(apiInShort(held.requests[2]?.messages ?? []).slice(-2)).toEqual([
      'user: [Background call bg_1, Slow, has finished. Its result:]\nport is taken',
      'user: how is it?',
    ])
    await says('not well')
    session.send('again')
    await flush()
    expect(outcomesOf(apiInShort(held.requests[3]?.messages ?? []))).toHaveLength(1)
    expect(finished).toHaveLength(1)
    await session.close()
  })

  it('X4 X6 are stopped when the session closes', async () => {
    const { slow, options, calls, says } = parts({ ...server, obedient: true })
    const session = createSession(options)
    session.send('start the server')
    await calls('a')
    session.detach('a')
    await says('it runs')
    await session.close()
    expect(slow.run('a').context.abortController.signal.reason).toBe('session_closed')
  })

  it('X6 an abort of the session stops them, and says so; an interrupt and a stopped turn do not', async () => {
    const { slow, options, calls, says, held } = parts({ obedient: true })
    const session = createSession(options)
    session.send('go')
    await calls('a')
    session.detach('a')
    await says('waiting')
    session.interrupt('hurry')
    await says('soon')
    expect(slow.run('a').context.abortController.signal.aborted).toBe(false)
    session.interrupt()
    await flush()
    expect([session.status, slow.run('a').context.abortController.signal.aborted]).toEqual(['idle', false])
    session.abort('escape')
    await flush()
    expect(slow.run('a').context.abortController.signal.reason).toBe('escape')
    session.send('what happened?')
    await flush()
    expect(outcomesOf(apiInShort(held.requests.at(-1)?.messages ?? []))).toEqual([
      expect.stringContaining('It was stopped.'),
    ])
    await session.close()
  })

  it('X8 an agent goes on, its question is listed by the session, and it reports once', async () => {
    const inner = heldModel()
    const pay = heldTool('Pay')
    const agent = subAgent({ name: 'Agent', tools: [pay.tool], model: inner.model })
    const { held, says } = parts()
    const session = createSession({
      tools: [agent],
      model: held.model,
      context: { permissions: { allow: ['Agent'] } },
    })
    session.send('go')
    await flush()
    held.start()
    held.call('outer', 'Agent', { prompt: 'pay' })
    held.end('tool_use')
    await flush()
    expect(session.detach('outer')).toBe(true)
    await says('the agent works')
    expect(session.status).toBe('running')
    inner.start()
    inner.call('in', 'Pay')
    inner.end('tool_use')
    await flush()
    const [question] = session.questions()
    expect(question).toMatchObject({ toolUseID: 'in', toolName: 'Pay', agents: [{ toolUseID: 'outer' }] })
    // the conversation goes on meanwhile, and an interrupt of it leaves the agent alone
    session.send('how far?')
    await flush()
    session.interrupt('never mind')
    await says('it asks')
    expect(await session.answer(question?.id ?? '', { behavior: 'allow' })).toBe('accepted')
    await flush()
    expect(pay.started).toEqual(['in'])
    pay.run('in').finish()
    await flush()
    inner.start()
    inner.text('paid')
    inner.end()
    await flush()
    await says('all paid')
    expect([session.status, session.result?.reason]).toEqual(['idle', 'completed'])
    session.send('again')
    await flush()
    expect(outcomesOf(apiInShort(held.requests.at(-1)?.messages ?? []))).toEqual([
      expect.stringMatching(/^user: \[Background call bg_1, Agent.*, has finished. Its result:\]\npaid$/s),
    ])
    expect(checkTranscript(session.transcript).ok).toBe(true)
    await session.close()
  })

  it('X6 X8 an abort of the session reaches an agent that waits for an answer, and its question closes', async () => {
    const inner = heldModel()
    const agent = subAgent({ name: 'Agent', tools: [heldTool('Pay').tool], model: inner.model })
    const { held, says } = parts()
    const context = { permissions: { allow: ['Agent'] } }
    const session = createSession({ tools: [agent], model: held.model, context })
    session.send('go')
    await flush()
    held.start()
    held.call('outer', 'Agent', { prompt: 'pay' })
    held.end('tool_use')
    await flush()
    session.detach('outer')
    await says('the agent works')
    inner.start()
    inner.call('in', 'Pay')
    inner.end('tool_use')
    await flush()
    const [question] = session.questions()
    session.abort('escape')
    await session.whenIdle()
    await flush()
    expect(session.questions()).toEqual([])
    expect(await session.answer(question?.id ?? '', { behavior: 'allow' })).toBe('stale')
    expect(session.background.list()).toMatchObject([{ toolUseID: 'outer', status: 'stopped' }])
    await session.close()
  })

  it('X9 with a journal: what was under way when the process stopped is answered in the next', async () => {
    const journals = memoryJournals()
    const first = parts()
    const opened = await openSession({ ...first.options, id: 's', journals, owner: 'one' })
    opened.send('go')
    await first.calls('a')
    opened.detach('a')
    await first.says('waiting')
    expect(opened.status).toBe('running')
    const closing = opened.close()
    await flush()
    expect(first.slow.run('a').context.abortController.signal.reason).toBe('suspend')
    first.slow.run('a').finish({ data: 'too late' })
    await closing

    const second = parts()
    const session = await openSession({ ...second.options, id: 's', journals, owner: 'two' })
    expect([session.status, second.held.requests.length]).toEqual(['suspended', 0])
    session.resume()
    await second.says('so what')
    await flush()
    expect(outcomesOf(inShort(session.transcript))).toEqual([
      expect.stringContaining('The process stopped while this call was running.'),
    ])
    expect(second.slow.started).toEqual([])
    await session.close()

    // delivered once: the next process has nothing to deliver
    const third = parts()
    const last = await openSession({ ...third.options, id: 's', journals, owner: 'three' })
    last.send('and?')
    await flush()
    expect(outcomesOf(apiInShort(third.held.requests[0]?.messages ?? []))).toHaveLength(1)
    await last.close()
  })

  it('X9 an outcome that the log has is told by the next process, byte for byte', async () => {
    const journals = memoryJournals()
    const first = parts(server)
    const opened = await openSession({ ...first.options, id: 's', journals, owner: 'one' })
    opened.send('go')
    await first.calls('a')
    opened.detach('a')
    await first.says('it runs')
    first.slow.run('a').finish({ data: 'it broke' })
    await flush()
    expect(outcomesOf(inShort(opened.transcript))).toEqual([])
    await opened.close()
    const second = parts()
    const session = await openSession({ ...second.options, tools: [], id: 's', journals, owner: 'two' })
    session.send('and?')
    await flush()
    expect(apiInShort(second.held.requests[0]?.messages ?? []).slice(-2)).toEqual([
      'user: [Background call bg_1, Slow, has finished. Its result:]\nit broke',
      'user: and?',
    ])
    await session.close()
  })

  it('X3 X9 the next process tells outcomes in the order in which the calls ended', async () => {
    const journals = memoryJournals()
    const first = parts(server)
    const opened = await openSession({ ...first.options, id: 's', journals, owner: 'one' })
    opened.send('go')
    for (const id of ['a', 'b']) {
      await first.calls(id)
      opened.detach(id)
    }
    await first.says('they run')
    for (const id of ['b', 'a']) {
      first.slow.run(id).finish({ data: `${id} is done` })
      await flush()
    }
    await opened.close()
    const second = parts()
    const session = await openSession({ ...second.options, id: 's', journals, owner: 'two' })
    session.send('and?')
    await flush()
    const told = outcomesOf(apiInShort(second.held.requests[0]?.messages ?? []))
    expect(told.map((line) => /bg_\d/.exec(line)?.[0])).toEqual(['bg_2', 'bg_1'])
    await session.close()
  })
})
