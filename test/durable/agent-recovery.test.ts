import { type JournalStore, memoryJournals, postAnswer, storedQuestions } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { allowAllTools } from '../../src/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { asked, callIn, withAgent } from '../support/agent-lives.ts'
import { readAll, said, sayLast, settle, startReply, until } from '../support/durable-lives.ts'

describe('agents that survive their process', () => {
  it('D17 after a crash the agent continues where it was', async () => {
    const world = await asked()
    await world.seen
    const [before] = world.first.session.questions()
    const second = await world.begin()
    expect(second.session.questions()).toEqual([before])
    const again = readAll(second.session.resume())
    await until(() => second.session.questions().length === 1)
    await second.session.answer(before?.id as string, { behavior: 'allow' })
    await until(() => world.pay.started.length === 1)
    world.pay.run('p1').finish()
    const agent = world.agentLife(second.session)
    await sayLast(agent, 'Paid.')
    await sayLast(second)
    await again
    await second.session.whenIdle()
    // the agent was not asked again what it had said before the crash
    expect(agent.held.requests).toHaveLength(1)
    expect(said(second.session.transcript).at(-1)).toBe('assistant: Done.')
  })

  it('D11 D17 the tool of the agent, or the one that it asks about, is gone when its question is answered', async () => {
    const world = await asked()
    await world.seen
    const [question] = world.first.session.questions()
    const second = await world.begin({ tools: [] })
    expect(second.session.questions()).toMatchObject([{ id: question?.id, toolName: 'Pay' }])
    expect(await second.session.answer(question?.id as string, { behavior: 'allow' })).toBe('accepted')
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    expect(world.pay.started).toEqual([])
    expect(JSON.stringify(second.session.transcript)).toContain('It may or may not have taken effect')
    // nothing is left to answer, here or in the log of the agent
    expect(second.session.questions()).toEqual([])
    expect(await storedQuestions(world.journals, 's')).toEqual([])
    expect(
      await postAnswer(world.journals, 's', { question: String(question?.id), answer: { behavior: 'allow' } }),
    ).toBe('stale')
    const inner = await world.idsOf()
    expect((await world.recordsOf(inner[1] as string)).at(-1)).toMatchObject({
      t: 'run.ended',
      reason: 'aborted_tools',
    })
  })

  it('D10 D17 opening a session fences the agents of the owner before: nothing of theirs starts or is written', async () => {
    const world = withAgent()
    const first = await world.begin({ canUseTool: allowAllTools })
    first.session.send('pay')
    await callIn(first, 'a1', 'Agent', { prompt: 'pay it' })
    const agent = world.agentLife(first.session)
    await startReply(agent)
    const inner = (await world.idsOf())[1] as string
    const second = await world.begin({ canUseTool: allowAllTools })
    const before = (await world.recordsOf(inner)).length
    // the old owner's model goes on talking
    agent.held.call('p1', 'Pay', {})
    agent.held.end('tool_use')
    await until(() => first.session.status !== 'running')
    expect(world.pay.started).toEqual([])
    expect(first.session.result).toMatchObject({ reason: 'journal_error', error: { code: 'session_fenced' } })
    expect((await world.recordsOf(inner)).length).toBe(before)
    expect((await world.recordsOf(inner)).at(-1)).toMatchObject({ t: 'session.opened', owner: 'life 2' })
    await second.session.close()
  })

  it('D15a D17 suspending stops the agent without a result, and it goes on later', async () => {
    const world = withAgent({ canUseTool: allowAllTools })
    const first = await world.begin()
    first.session.send('pay')
    await callIn(first, 'a1', 'Agent', { prompt: 'pay it' })
    await callIn(world.agentLife(first.session), 'p1', 'Pay')
    await until(() => world.pay.started.length === 1)
    const suspended = first.session.suspend()
    await until(() => world.pay.run('p1').context.abortController.signal.aborted)
    expect(world.pay.run('p1').context.abortController.signal.reason).toBe('suspend')
    world.pay.run('p1').finish()
    await suspended
    expect(first.session.status).toBe('suspended')
    const inner = (await world.idsOf())[1] as string
    expect((await world.recordsOf(inner)).map(({ t }) => t)).not.toContain('call.completed')
    expect((await world.records()).map(({ t }) => t)).not.toContain('call.completed')
    first.session.resume()
    await sayLast(world.agentLife(first.session), 'I cannot tell.')
    await sayLast(first)
    await first.session.whenIdle()
    // the payment of the agent had started: nobody can say what became of it
    expect(JSON.stringify(await world.recordsOf(inner))).toContain('It may or may not have taken effect')
    expect(world.pay.started).toHaveLength(1)
    expect(said(first.session.transcript)).toContain('user: result a1 I cannot tell.')
  })

  it('A4 D17 an abort ends an agent that waits for a person', async () => {
    const world = await asked({ executor: {} })
    const { session } = world.first
    await world.seen
    session.resume()
    await until(() => session.status === 'running')
    session.abort('escape')
    await session.whenIdle()
    expect(session.result?.reason).toMatch(/^aborted/)
    expect(session.questions()).toEqual([])
    expect(checkTranscript(session.transcript)).toEqual({ ok: true })
    for (const id of await world.idsOf()) expect((await world.recordsOf(id)).map(({ t }) => t)).toContain('run.ended')
  })

  it('D11 D16 D17 after a crash between the result of an agent and the end of its log, nothing lists its question', async () => {
    const store = memoryJournals()
    let isDead = false
    // the process ends when the outer log has the result
    const journals: JournalStore = {
      ...store,
      async open(id, options) {
        const journal = await store.open(id, options)
        const isFirst = options.owner === 'life 2'
        return {
          ...{ id, records: journal.records },
          append: (record) => {
            if (isFirst && isDead) return
            journal.append(record)
            if (isFirst && id === 's' && record.t === 'call.completed') isDead = true
          },
          flush: () => journal.flush(),
          onNote: (listener) => journal.onNote(listener),
          close: () => journal.close(),
        }
      },
    }
    const world = await asked({ journals }, true)
    await world.seen
    // the tool is gone: its call has an unknown outcome, and the agents inside are over
    const second = await world.begin({ tools: [] })
    second.session.resume()
    await until(() => isDead)
    await settle()
    const third = await world.begin({ tools: [] })
    expect(third.session.questions()).toEqual([])
    const open: unknown[] = []
    for await (const { id, status, questions } of journals.list())
      if (id !== 's') open.push([id.split('/').length, status, questions])
    expect(open).toEqual([
      [3, 'idle', []],
      [5, 'idle', []],
    ])
    // once: later openings do not open them again
    await third.session.close()
    const lengths = async () =>
      Promise.all((await world.idsOf()).slice(1).map(async (id) => (await world.recordsOf(id)).length))
    const before = await lengths()
    await world.begin({ tools: [] })
    expect(await lengths()).toEqual(before)
  })
})
