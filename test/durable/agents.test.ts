import { type JournalStore, memoryJournals, openSession, postAnswer, storedQuestions } from 'signalbox/durable'
import { subAgent } from 'signalbox/sub-agent'
import { describe, expect, it } from 'vitest'
import {
  type AnyTool,
  allowAllTools,
  type CanUseTool,
  type Model,
  type PermissionAnswer,
  type Session,
} from '../../src/index.ts'
import { callBlock, textBlock } from '../../src/testing/held-model.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { type Life, lives, readAll, said, sayLast, settle, startReply, until } from '../support/durable-lives.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'

const later: CanUseTool = () => ({ behavior: 'later' })

const agentLives = new WeakMap<object, Life>()

/** A session whose model calls an agent, whose model calls Pay. Each life has models of its own. */
function withAgent(options: Parameters<typeof lives>[1] = {}, deep = false) {
  const pay = heldTool('Pay')
  const models: Record<'agent' | 'deep', ReturnType<typeof heldModel>> = { agent: heldModel(), deep: heldModel() }
  const through =
    (name: 'agent' | 'deep'): Model =>
    (request) =>
      models[name].model(request)
  const inner = subAgent({ name: 'Deep', tools: [pay.tool], model: through('deep') })
  const agent = subAgent({ tools: deep ? [inner as AnyTool] : [pay.tool], model: through('agent') })
  const world = lives([agent as AnyTool], { context: { permissions: { allow: ['Agent', 'Deep'] } }, ...options })
  const life = async (more: Parameters<typeof world.begin>[0] = {}) => {
    models.agent = heldModel()
    models.deep = heldModel()
    return world.begin(more)
  }
  const idsOf = async () => {
    const ids: string[] = []
    for await (const { id } of world.journals.list()) ids.push(id)
    return ids.sort()
  }
  const recordsOf = async (id: string) => {
    const all: Record<string, unknown>[] = []
    for await (const record of world.journals.read(id)) all.push(record)
    return all
  }
  return {
    ...world,
    begin: life,
    pay,
    idsOf,
    recordsOf,
    /** The model of the agent, as a life of its own. */
    agentLife: (session: Session, name: 'agent' | 'deep' = 'agent'): Life => {
      const held = models[name]
      const known = agentLives.get(held) ?? { session, held }
      agentLives.set(held, known)
      return known
    },
  }
}

/** Two agents that may run side by side, each with a model of its own, whose calls of Pay wait for a person. */
function twoAgents() {
  const pay = heldTool('Pay')
  const refused: string[] = []
  const say = (id: string): Model =>
    async function* ({ messages }) {
      const results = JSON.stringify(messages)
      const isOver = results.includes('tool_result')
      if (results.includes('not the second')) refused.push(id)
      yield { type: 'message_start', message: { id: `${id}_${isOver ? 2 : 1}`, model: id } }
      yield* isOver ? textBlock(0, `${id} is over`) : callBlock(0, id, 'Pay', '{}')
      yield { type: 'message_delta', delta: { stop_reason: isOver ? 'end_turn' : 'tool_use' } }
      yield { type: 'message_stop' }
    }
  const agent = (name: string): AnyTool =>
    subAgent({ name, tools: [pay.tool], model: say(name.toLowerCase()), isConcurrencySafe: true }) as AnyTool
  const world = lives([agent('One'), agent('Two')], {
    canUseTool: later,
    context: { permissions: { allow: ['One', 'Two'] } },
  })
  return {
    ...world,
    pay,
    refused,
    bothAsk: async (life: Life) => {
      const { held } = await startReply(life)
      held.call('a1', 'One', { prompt: 'pay' })
      held.call('a2', 'Two', { prompt: 'pay' })
      held.end('tool_use')
      await until(() => life.session.questions().length === 2 && life.session.status === 'suspended')
    },
  }
}

async function callIn(life: Life, id: string, name: string, input: Record<string, unknown> = {}) {
  const { held } = await startReply(life)
  held.call(id, name, input)
  held.end('tool_use')
  await settle()
}

/** The agent has asked for Pay, which waits for a person. */
async function asked(options: Parameters<typeof lives>[1] = {}, deep = false) {
  const world = withAgent({ canUseTool: later, ...options }, deep)
  const first = await world.begin()
  const seen = readAll(first.session.send('pay'))
  await callIn(first, 'a1', 'Agent', { prompt: 'pay it' })
  if (deep) {
    await callIn(world.agentLife(first.session), 'd1', 'Deep', { prompt: 'really pay it' })
    await callIn(world.agentLife(first.session, 'deep'), 'p1', 'Pay')
  } else await callIn(world.agentLife(first.session), 'p1', 'Pay')
  await until(() => first.session.questions().length > 0)
  return { ...world, first, seen }
}

describe('agents that survive their process', () => {
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
