import { postAnswer, storedQuestions } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import type { PermissionAnswer } from '../../src/index.ts'
import { asked, callIn, twoAgents, withAgent } from '../support/agent-lives.ts'
import { later } from '../support/asked-session.ts'
import { readAll, said, sayLast, startReply, until } from '../support/durable-lives.ts'

describe('questions of agents', () => {
  it('D15 D17 a body whose agent waits is not under way: the run is suspended, and its question is listed', async () => {
    const world = await asked()
    await world.seen
    expect(world.first.session.status).toBe('suspended')
    expect(world.first.session.questions()).toMatchObject([
      { toolUseID: 'p1', toolName: 'Pay', agents: [{ toolUseID: 'a1', toolName: 'Agent' }] },
    ])
  })

  it('D15 D17 S3 an answer lets a suspended session and its agent go on by themselves', async () => {
    const world = await asked()
    await world.seen
    const { session } = world.first
    const [question] = session.questions()
    const events: string[] = []
    session.on('question_opened', ({ id }) => events.push(`opened ${id}`))
    session.on('question_closed', ({ id }) => events.push(`closed ${id}`))
    expect(await session.answer(question?.id as string, { behavior: 'allow' }, { by: 'Ann' })).toBe('accepted')
    expect(await session.answer(question?.id as string, { behavior: 'allow' })).toBe('stale')
    await until(() => world.pay.started.length === 1)
    expect(events).toEqual([`closed ${question?.id}`])
    world.pay.run('p1').finish()
    await sayLast(world.agentLife(session), 'Paid by the agent.')
    await sayLast(world.first, 'All paid.')
    await session.whenIdle()
    expect(said(session.transcript)).toEqual([
      'user: pay',
      'assistant: call a1 Agent {"prompt":"pay it"}',
      'user: result a1 Paid by the agent.',
      'assistant: All paid.',
    ])
    expect(world.pay.started).toHaveLength(1)
  })

  it('D17 D16 approvals inside an agent inside an agent: another process answers while nothing runs', async () => {
    const world = await asked({}, true)
    await world.seen
    const path = [
      { toolUseID: 'a1', toolName: 'Agent' },
      { toolUseID: 'd1', toolName: 'Deep' },
    ]
    expect(world.first.session.questions()).toMatchObject([{ toolUseID: 'p1', agents: path }])
    await world.first.session.close()
    const [question] = await storedQuestions(world.journals, 's')
    expect(question).toMatchObject({ toolUseID: 'p1', toolName: 'Pay', agents: path })
    expect(question?.session).toMatch(/^s\/[^/]+\/a1\/[^/]+\/d1$/)
    const given = { question: question?.id as string, answer: { behavior: 'allow' } } as const
    const outcomes = await Promise.all([
      postAnswer(world.journals, 's', { ...given, by: 'Ann' }),
      postAnswer(world.journals, 's', { ...given, answer: { behavior: 'deny', message: 'no' }, by: 'Bob' }),
    ])
    expect(outcomes.sort()).toEqual(['accepted', 'stale'])
    const second = await world.begin()
    const again = readAll(second.session.resume())
    await until(() => world.pay.started.length === 1)
    world.pay.run('p1').finish()
    await sayLast(world.agentLife(second.session, 'deep'), 'Deep is done.')
    await sayLast(world.agentLife(second.session), 'The agent is done.')
    await sayLast(second)
    await again
    expect(said(second.session.transcript)).toContain('user: result a1 The agent is done.')
    expect(await postAnswer(world.journals, 's', given)).toBe('stale')
    expect(second.session.questions()).toEqual([])
  })

  it('D17 an open session goes on by itself when another process answers a question deep inside', async () => {
    const world = await asked({}, true)
    await world.seen
    const [question] = await storedQuestions(world.journals, 's')
    const answer = { behavior: 'deny', message: 'not today' } as const
    expect(await postAnswer(world.journals, 's', { question: question?.id as string, answer })).toBe('accepted')
    await sayLast(world.agentLife(world.first.session, 'deep'), 'No.')
    await sayLast(world.agentLife(world.first.session), 'It was denied.')
    await sayLast(world.first)
    await world.first.session.whenIdle()
    expect(world.pay.started).toEqual([])
    expect(said(world.first.session.transcript)).toContain('user: result a1 It was denied.')
  })

  it('D17 questions of agents that run one after the other are answered in two processes', async () => {
    const world = withAgent({ canUseTool: later })
    const first = await world.begin()
    first.session.send('pay')
    const { held } = await startReply(first)
    held.call('a1', 'Agent', { prompt: 'one' })
    held.call('a2', 'Agent', { prompt: 'two' })
    held.end('tool_use')
    await callIn(world.agentLife(first.session), 'p1', 'Pay')
    await until(() => first.session.status === 'suspended')
    // the second agent waits for the first: unsafe calls run one after the other
    const [one] = first.session.questions()
    await first.session.answer(one?.id as string, { behavior: 'allow' })
    await until(() => world.pay.started.length === 1)
    world.pay.run('p1').finish()
    await sayLast(world.agentLife(first.session), 'one done')
    await callIn(world.agentLife(first.session), 'p2', 'Pay')
    await until(() => first.session.status === 'suspended')
    const [two] = first.session.questions()
    expect(two?.agents).toEqual([{ toolUseID: 'a2', toolName: 'Agent' }])
    const second = await world.begin()
    await second.session.answer(two?.id as string, { behavior: 'allow' })
    second.session.resume()
    await until(() => world.pay.started.length === 2)
    world.pay.run('p2').finish()
    await sayLast(world.agentLife(second.session), 'two done')
    await sayLast(second)
    await second.session.whenIdle()
    expect(said(second.session.transcript)).toEqual([
      'user: pay',
      'assistant: call a1 Agent {"prompt":"one"}',
      'assistant: call a2 Agent {"prompt":"two"}',
      'user: result a1 one done',
      'user: result a2 two done',
      'assistant: Done.',
    ])
  })

  it('D16 D17 two agents ask at once; another process answers in reverse order, twice at once, and each answer reaches its own agent', async () => {
    const world = twoAgents()
    const first = await world.begin()
    first.session.send('pay')
    await world.bothAsk(first)
    const [one, two] = first.session.questions()
    const post = (id: string | undefined, answer: PermissionAnswer) =>
      postAnswer(world.journals, 's', { question: String(id), answer })
    const no = { behavior: 'deny', message: 'not the second' } as const
    // the second first, each by two people at once
    const second = await Promise.all([post(two?.id, no), post(two?.id, { behavior: 'allow' })])
    expect(second.toSorted()).toEqual(['accepted', 'stale'])
    const isDenied = second[0] === 'accepted'
    expect((await Promise.all([post(one?.id, { behavior: 'allow' }), post(one?.id, no)])).toSorted()).toEqual([
      'accepted',
      'stale',
    ])
    await until(() => world.pay.started.includes('one') || world.refused.length > 0)
    for (const id of [...world.pay.started]) world.pay.run(id).finish()
    expect([world.pay.started.filter((id) => id === 'two').length, isDenied]).toEqual([isDenied ? 0 : 1, isDenied])
    expect(new Set(world.pay.started).size).toBe(world.pay.started.length)
    expect(await post(one?.id, { behavior: 'allow' })).toBe('stale')
  })

  it('D16 D17 an answer to a question of an agent whose call was stopped is stale, from every side', async () => {
    const world = await asked({}, true)
    await world.seen
    const { session } = world.first
    const [question] = session.questions()
    const asker = (await storedQuestions(world.journals, 's'))[0]?.session as string
    session.resume()
    session.abort('enough')
    await session.whenIdle()
    const answer = { behavior: 'allow' } as const
    const given = { type: 'answer', question: question?.id as string, answer } as const
    expect(await session.answer(given.question, answer)).toBe('stale')
    expect(await postAnswer(world.journals, 's', given)).toBe('stale')
    expect(await world.journals.post(asker, given)).toBe('stale')
    await session.close()
    const second = await world.begin()
    expect(second.session.questions()).toEqual([])
    expect(await second.session.answer(given.question, answer)).toBe('stale')
    expect(world.pay.started).toEqual([])
  })

  it('D14 D17 a rule that came with an answer inside an agent holds outside it, also after a crash', async () => {
    const world = await asked()
    await world.seen
    const [question] = world.first.session.questions()
    const answer = { behavior: 'allow', addRules: { allow: ['Pay'] } } as const
    await world.first.session.answer(question?.id as string, answer)
    await until(() => world.pay.started.length === 1)
    world.pay.run('p1').finish()
    await sayLast(world.agentLife(world.first.session), 'Paid.')
    await until(() => world.first.held.requests.length === 2)
    const second = await world.begin()
    expect(second.session.context.permissions?.allow).toContain('Pay')
  })

  it('D15 D17 L5 the stream fails while an agent waits for a person: the session is suspended, and nothing begins twice', async () => {
    const world = withAgent({ canUseTool: later, retry: { attempts: 3 } })
    const first = await world.begin()
    const seen = readAll(first.session.send('pay'))
    const { held } = await startReply(first)
    held.call('a1', 'Agent', { prompt: 'pay it' })
    held.text('and then')
    await callIn(world.agentLife(first.session), 'p1', 'Pay')
    await until(() => first.session.questions().length === 1)
    held.fail(Object.assign(new Error('overloaded'), { status: 529 }))
    await seen
    expect(first.session.result?.reason).toBe('suspended')
    const second = await world.begin()
    const [question] = second.session.questions()
    await second.session.answer(question?.id as string, { behavior: 'allow' })
    const again = readAll(second.session.resume())
    await until(() => world.pay.started.length === 1)
    world.pay.run('p1').finish()
    await sayLast(world.agentLife(second.session), 'Paid.')
    await sayLast(second)
    await again
    expect(second.session.result?.reason).toBe('completed')
    expect(said(second.session.transcript).filter((line) => line.includes('result a1'))).toEqual([
      'user: result a1 Paid.',
    ])
  })
})
