import { type JournalStore, memoryJournals, openSession } from 'signalbox/durable'
import { subAgent } from 'signalbox/sub-agent'
import { simulatedClock } from 'signalbox/testing'
import { describe, expect, it } from 'vitest'
import { type AnyTool, allowAllTools } from '../../src/index.ts'
import { asked, callIn, withAgent } from '../support/agent-lives.ts'
import { later } from '../support/asked-session.ts'
import { lives, readAll, said, sayLast, settle, startReply, until } from '../support/durable-lives.ts'
import { failingJournals } from '../support/failing-journals.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'

describe('the log of an agent', () => {
  it('D17 an agent is a session of its own, with its own log in the same store, by the same owner', async () => {
    const world = await asked()
    await world.seen
    expect(world.first.session.result?.reason).toBe('suspended')
    const [outer, inner] = await world.idsOf()
    expect(outer).toBe('s')
    expect(inner).toMatch(/^s\/msg_[^/]+\/a1$/)
    const created = (await world.recordsOf(inner as string))[0]
    expect(created).toMatchObject({ t: 'session.created', outer: 's' })
    expect((await world.recordsOf(inner as string))[1]).toMatchObject({ t: 'session.opened', owner: 'life 1' })
    expect((await world.records()).find(({ t }) => t === 'agent.started')).toMatchObject({ session: inner, call: 'a1' })
  })

  it('D17 ids that a service sends cannot lead to the log of another agent or of another session', async () => {
    const world = withAgent({ canUseTool: allowAllTools })
    const mine = await openSession({
      id: 's/msg_1/mine',
      journals: world.journals,
      tools: [],
      model: heldModel().model,
      owner: 'me',
    })
    const first = await world.begin()
    first.session.send('pay')
    const { held } = await startReply(first)
    held.call('../../etc', 'Agent', { prompt: 'one' })
    held.call('x/msg_1/y', 'Agent', { prompt: 'two' })
    held.call('half \ud800', 'Agent', { prompt: 'three' })
    held.call('mine', 'Agent', { prompt: 'four' })
    held.end('tool_use')
    for (const words of ['one', 'two', 'three']) await sayLast(world.agentLife(first.session), words)
    await sayLast(first)
    await first.session.whenIdle()
    const agents = (await world.idsOf()).filter((id) => id !== 's' && id !== 's/msg_1/mine')
    expect(agents.map((id) => id.split('/').length)).toEqual([3, 3, 3])
    expect(JSON.stringify(first.session.transcript)).toContain('exists and is not an agent of session s')
    // its owner still has it
    mine.send('still here')
    await settle()
    expect((await world.recordsOf('s/msg_1/mine')).map(({ t }) => t)).toContain('message.sent')
  })

  it('D17 an agent cannot be opened by itself, and the attempt does not fence its owner', async () => {
    const world = await asked()
    await world.seen
    const [, inner] = await world.idsOf()
    const alone = openSession({ id: inner as string, journals: world.journals, tools: [], model: heldModel().model })
    await expect(alone).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('is an agent of session s and cannot be opened by itself'),
    })
    const { session } = world.first
    await session.answer(session.questions()[0]?.id as string, { behavior: 'allow' })
    await until(() => world.pay.started.length === 1)
    // an id with a slash that is no agent's is like any other
    const other = await openSession({ id: 'a/b', journals: world.journals, tools: [], model: heldModel().model })
    expect(other.status).toBe('idle')
    await other.close()
  })

  it('D17 a retried agent is an agent of its own; after a crash the retry goes on where it was', async () => {
    const pay = heldTool('Pay')
    const model = { held: heldModel() }
    const agent = {
      ...subAgent({ tools: [pay.tool], model: (request) => model.held.model(request), retry: { attempts: 0 } }),
      retry: { attempts: 2 },
    }
    const world = lives([agent as AnyTool], { canUseTool: later, context: { permissions: { allow: ['Agent'] } } })
    const first = await world.begin()
    first.session.send('pay')
    await callIn(first, 'a1', 'Agent', { prompt: 'pay it' })
    await until(() => model.held.requests.length === 1)
    model.held.fail(new Error('the service refuses'))
    // the second attempt begins with the prompt, not with the error of the first
    await until(() => model.held.requests.length === 2)
    expect(JSON.stringify(model.held.requests[1]?.messages)).toBe(JSON.stringify(model.held.requests[0]?.messages))
    model.held.start()
    model.held.call('p1', 'Pay', {})
    model.held.end('tool_use')
    await until(() => first.session.status === 'suspended' && first.session.questions().length === 1)
    const [question] = first.session.questions()
    model.held = heldModel()
    const second = await world.begin()
    expect(second.session.questions()).toEqual([question])
    await second.session.answer(question?.id as string, { behavior: 'allow' })
    second.session.resume()
    await until(() => pay.started.length === 1)
    pay.run('p1').finish()
    await until(() => model.held.requests.length === 1)
    model.held.start()
    model.held.text('Paid.')
    model.held.end()
    await sayLast(second)
    await second.session.whenIdle()
    expect(said(second.session.transcript)).toContain('user: result a1 Paid.')
    expect(pay.started).toEqual(['p1'])
  })

  it('D15a D17 a session that closes while an agent is being opened waits for it, and leaves no log open', async () => {
    const stored = memoryJournals()
    let letOpen: () => void = () => undefined
    const opened: string[] = []
    const slow: JournalStore = {
      ...stored,
      async open(id, options) {
        const journal = await stored.open(id, options)
        opened.push(id)
        if (id !== 's' && opened.length === 2) await new Promise<void>((resolve) => (letOpen = resolve))
        return journal
      },
    }
    // a body that does not settle is left behind at once
    const world = withAgent({ canUseTool: allowAllTools, journals: slow, executor: { abortGraceMs: 0 } })
    const first = await world.begin()
    first.session.send('pay')
    await callIn(first, 'a1', 'Agent', { prompt: 'pay it' })
    await until(() => opened.length === 2)
    const before = world.agentLife(first.session).held
    const closed = first.session.close()
    await until(() => first.session.result !== undefined)
    await settle()
    letOpen()
    await closed
    const owners: unknown[] = []
    for await (const { owner } of stored.list()) owners.push(owner)
    expect([owners, before.requests.length, first.session.status]).toEqual([[undefined, undefined], 0, 'closed'])
    const second = await world.begin()
    second.session.resume()
    await callIn(world.agentLife(second.session), 'p1', 'Pay')
    world.pay.run('p1').finish()
    await sayLast(world.agentLife(second.session), 'Paid.')
    await sayLast(second)
    await second.session.whenIdle()
    expect(said(second.session.transcript)).toContain('user: result a1 Paid.')
    expect([world.pay.started, (await world.idsOf()).length]).toEqual([['p1'], 2])
    await second.session.close()
  })

  it('D10 D15a D17 a session that goes on while an agent is still being opened opens its log once', async () => {
    const clock = simulatedClock()
    const stored = memoryJournals()
    let letOpen: () => void = () => undefined
    const opened: string[] = []
    const slow: JournalStore = {
      ...stored,
      async open(id, options) {
        opened.push(id)
        if (opened.length === 2) await new Promise<void>((resolve) => (letOpen = resolve))
        return stored.open(id, options)
      },
    }
    const world = withAgent({ canUseTool: allowAllTools, journals: slow, executor: { clock, abortGraceMs: 10 } })
    const life = await world.begin()
    const { session } = life
    session.send('pay')
    await callIn(life, 'a1', 'Agent', { prompt: 'pay it' })
    await until(() => opened.length === 2)
    const suspended = session.suspend()
    await settle()
    clock.increment(10)
    await suspended
    session.resume()
    await settle()
    letOpen()
    await callIn(world.agentLife(session), 'p1', 'Pay')
    world.pay.run('p1').finish()
    await sayLast(world.agentLife(session), 'Paid.')
    await sayLast(life)
    await session.whenIdle()
    expect(said(session.transcript)).toContain('user: result a1 Paid.')
    expect([opened.length, world.pay.started]).toEqual([2, ['p1']])
    await session.close()
  })

  it('S6 D17 a fork has the conversation, and agents stay with the old session', async () => {
    const world = await asked()
    await world.seen
    const fork = await world.first.session.fork({ id: 'f' })
    expect(fork.questions()).toEqual([])
    expect(world.first.session.questions()).toHaveLength(1)
    expect((await world.idsOf()).filter((id) => id.startsWith('f'))).toEqual(['f'])
  })

  it('D25 D17 removing a session removes its agents', async () => {
    const world = await asked({}, true)
    await world.seen
    await world.first.session.close()
    expect(await world.idsOf()).toHaveLength(3)
    await world.journals.remove('s')
    expect(await world.idsOf()).toEqual([])
  })

  it('D23 D17 an agent whose log is full has failed: its call says so, and the session goes on', async () => {
    const world = withAgent({ journals: memoryJournals({ limits: { recordBytes: 3_000 } }), canUseTool: allowAllTools })
    const first = await world.begin()
    const seen = readAll(first.session.send('pay'))
    await callIn(first, 'a1', 'Agent', { prompt: 'pay it' })
    const agent = await startReply(world.agentLife(first.session))
    agent.held.call('p1', 'Pay', { text: 'x'.repeat(4_000) })
    agent.held.end('tool_use')
    await sayLast(first, 'Then not.')
    await seen
    expect(world.pay.started).toEqual([])
    expect(first.session.result?.reason).toBe('completed')
    expect(JSON.stringify(first.session.transcript)).toContain('The agent stopped because its log is full.')
    await first.session.close()
    const second = await world.begin()
    expect(second.session.status).toBe('idle')
  })

  it.each([
    ['an agent that waits for a person', 'Agent', 'later'],
    ['an agent whose host is being asked', 'Agent', 'never'],
    ['a call that waits for a person', 'Pay', 'later'],
    ['a call whose host is being asked', 'Pay', 'never'],
  ] as const)('D19 D17 if the disk is full while a body runs beside %s, the session ends journal_error', async (_, name, answer) => {
    const { journals, breakDown } = failingJournals()
    const [pay, slow] = [heldTool('Pay', { safe: true }), heldTool('Slow', { safe: true })]
    const inner = heldModel()
    const agent = subAgent({ tools: [pay.tool], model: inner.model, isConcurrencySafe: true })
    const world = lives([agent as AnyTool, pay.tool, slow.tool], {
      journals,
      canUseTool: (tool) => {
        if (tool.name !== 'Pay') return { behavior: 'allow' }
        return answer === 'later' ? { behavior: 'later' } : new Promise<never>(() => undefined)
      },
    })
    const life = await world.begin()
    life.session.send('go')
    const { session, held } = await startReply(life)
    held.call('one', name, name === 'Agent' ? { prompt: 'pay' } : {})
    held.call('two', 'Slow')
    held.end('tool_use')
    if (name === 'Agent') await callIn({ session, held: inner }, 'p', 'Pay')
    await until(() => session.questions().length === 1 && slow.started.length === 1)
    await settle()
    breakDown()
    slow.run('two').finish()
    await session.whenIdle()
    expect([session.result?.reason, pay.started]).toEqual(['journal_error', []])
    await session.close()
  })

  it('D19 D17 if the log of an agent fails, the session ends journal_error and can be resumed', async () => {
    const store = memoryJournals()
    let isFull = false
    const journals: JournalStore = {
      ...store,
      async open(id, options) {
        const journal = await store.open(id, options)
        if (!id.includes('/')) return journal
        const flush = () => (isFull ? Promise.reject(new Error('no space')) : journal.flush())
        return {
          ...{ id, records: journal.records, flush },
          append: (record) => journal.append(record),
          onNote: (listener) => journal.onNote(listener),
          close: () => journal.close(),
        }
      },
    }
    const world = withAgent({ journals, canUseTool: allowAllTools })
    const first = await world.begin()
    first.session.send('pay')
    await callIn(first, 'a1', 'Agent', { prompt: 'pay it' })
    await startReply(world.agentLife(first.session))
    isFull = true
    const { held } = world.agentLife(first.session)
    held.call('p1', 'Pay', {})
    held.end('tool_use')
    await first.session.whenIdle()
    expect(first.session.result?.reason).toBe('journal_error')
    expect(world.pay.started).toEqual([])
    isFull = false
    const second = await world.begin()
    second.session.resume()
    await sayLast(world.agentLife(second.session), 'Nothing to pay.')
    await sayLast(second)
    await second.session.whenIdle()
    expect(said(second.session.transcript)).toContain('user: result a1 Nothing to pay.')
  })
})
