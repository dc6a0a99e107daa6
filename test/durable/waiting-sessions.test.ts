import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it, vi } from 'vitest'
import { allowAllTools, type QueryMessage } from '../../src/index.ts'
import { askedSession, later } from '../support/asked-session.ts'
import {
  type Life,
  lives,
  readAll,
  replyWith,
  said,
  sayLast,
  settle,
  startReply,
  until,
} from '../support/durable-lives.ts'
import { heldTool } from '../support/held-tool.ts'

describe('a session with an open question', () => {
  it('S8 the turn that waits for an answer is replayed, before and after it goes on, in this process and the next', async () => {
    const { first, seen, begin, tools } = await askedSession()
    await seen
    const replay = async ({ session }: Life, after?: string): Promise<string[]> => {
      const all: string[] = []
      const view = session.messages({ after })
      void (async () => {
        for await (const message of view) all.push(...(message.type === 'system' ? [] : said([message])))
      })()
      await settle()
      await view.return()
      return all
    }
    const [prompt] = first.session.transcript
    const call = 'assistant: call pay Pay {}'
    expect([await replay(first), await replay(first, prompt?.uuid)]).toEqual([['user: pay', call], [call]])
    const second = await begin()
    expect([await replay(second), await replay(second, prompt?.uuid)]).toEqual([['user: pay', call], [call]])
    await second.session.answer(second.session.questions()[0]?.id as string, { behavior: 'allow' })
    second.session.resume()
    await until(() => tools[0]?.started.length === 1)
    expect([await replay(second), await replay(second, prompt?.uuid)]).toEqual([['user: pay', call], [call]])
    tools[0]?.run('pay').finish()
    await sayLast(second)
    expect(await replay(second)).toEqual(['user: pay', call, 'user: result pay pay done', 'assistant: Done.'])
  })

  it('S8 a reader that comes back to the next process with a report that is not in the conversation repeats nothing before it', async () => {
    const { begin } = lives([], { canUseTool: allowAllTools })
    const first = await begin()
    const seen = readAll(first.session.send('hello'))
    await sayLast(first, 'hi')
    const last = (await seen).at(-1)
    expect(last).toMatchObject({ type: 'system', subtype: 'model_reply' })
    await first.session.close()
    const second = await begin()
    const missed = readAll(second.session.messages({ after: last?.uuid }))
    second.session.send('and now?')
    await sayLast(second, 'well')
    await second.session.close()
    expect(said(await missed)).toEqual(['user: and now?', 'assistant: well'])
  })

  it('S6 a fork leaves the open question and the background call with the old session', async () => {
    const [pay, slow] = [heldTool('Pay'), heldTool('Slow')]
    const world = lives([pay.tool, slow.tool], {
      canUseTool: ({ name }) => ({ behavior: name === 'Slow' ? 'allow' : 'later' }),
    })
    const { session, held } = await world.begin()
    const life = { session, held }
    session.send('go')
    await replyWith(life, ['s', 'Slow'])
    await until(() => slow.started.length === 1)
    expect(session.detach('s')).toBe(true)
    await replyWith(life, ['p', 'Pay'])
    await until(() => session.questions().length === 1)
    const fork = await session.fork({ id: 'fork' })
    expect([fork.questions(), fork.background.list(), fork.status]).toEqual([[], [], 'idle'])
    expect(said(fork.transcript)).toEqual(said(session.transcript))
    const [question] = session.questions()
    expect(await fork.answer(question?.id as string, { behavior: 'allow' })).toBe('stale')
    await fork.close()
    expect([session.questions().length, session.background.list().length, pay.started]).toEqual([1, 1, []])
    expect(await session.answer(question?.id as string, { behavior: 'allow' })).toBe('accepted')
    await until(() => pay.started.length === 1)
  })

  it('S9 a message that waited behind a question follows its turn, also in a later process', async () => {
    const { seen, begin, tools } = await askedSession()
    await seen
    const second = await begin()
    await readAll(second.session.send('and hurry'))
    expect([second.session.status, second.session.questions().length]).toEqual(['suspended', 1])
    expect(said(second.session.transcript)).toEqual(['user: pay'])
    const third = await begin()
    await third.session.answer(third.session.questions()[0]?.id as string, { behavior: 'allow' })
    third.session.resume()
    await until(() => tools[0]?.started.length === 1)
    tools[0]?.run('pay').finish()
    await sayLast(third)
    await third.session.whenIdle()
    expect(second.held.requests).toEqual([])
    expect(said(third.session.transcript)).toEqual([
      'user: pay',
      'assistant: call pay Pay {}',
      'user: result pay pay done',
      'user: and hurry',
      'assistant: Done.',
    ])
  })

  it('S9 a message waits behind an open question; one that interrupts rejects it', async () => {
    const { first, seen, begin, tools } = await askedSession()
    await seen
    const waits = readAll(first.session.send('and hurry'))
    await waits
    expect(first.session.status).toBe('suspended')
    expect(first.held.requests).toHaveLength(1)
    const second = await begin()
    const view = readAll(second.session.send('stop', { interrupt: true }))
    await sayLast(second)
    await view
    expect(tools[0]?.started).toEqual([])
    expect(said(second.session.transcript)).toEqual([
      'user: pay',
      'assistant: call pay Pay {}',
      expect.stringContaining('user: result pay'),
      'user: and hurry',
      'user: stop',
      'assistant: Done.',
    ])
  })

  it.each([
    'while it runs',
    'while it is suspended',
    'after a crash',
    'by a note, after a crash',
  ])('S4 a body runs in the async context of whoever started the run, answered %s', async (when) => {
    const user = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const tool = heldTool('Pay').tool
    const pay = { ...tool, call: async () => ({ data: seen.push(user.getStore()) }) }
    // a call that reads and runs keeps the run from being suspended
    const read = heldTool('Read', { safe: true, isReadOnly: () => true })
    const world = lives([read.tool, { ...pay, isConcurrencySafe: () => true }], {
      canUseTool: ({ name }) => ({ behavior: name === 'Read' ? 'allow' : 'later' }),
    })
    let life = await user.run('opener', () => world.begin())
    user.run('starter', () => void life.session.send('pay'))
    const calls = [['p', 'Pay'] as const, ...(when === 'while it runs' ? [['r', 'Read'] as const] : [])]
    await replyWith(life, ...calls)
    if (when !== 'while it runs') await life.session.whenIdle()
    if (when.endsWith('after a crash')) {
      life = await user.run('opener', () => world.begin())
      user.run('starter', () => void life.session.resume())
      await life.session.whenIdle()
    }
    const [question] = life.session.questions()
    const answer = { behavior: 'allow' } as const
    await user.run('approver', () =>
      when.startsWith('by a note')
        ? world.journals.post('s', { type: 'answer', question: question?.id as string, answer })
        : life.session.answer(question?.id as string, answer),
    )
    await until(() => seen.length === 1)
    expect(seen).toEqual(['starter'])
  })

  it.each([
    'send',
    'interrupt',
    'resume',
  ] as const)('S2 S9 %s while a suspension waits for bodies to end: the session goes on when they have', async (how) => {
    const slow = heldTool('Slow')
    const { begin } = lives([slow.tool], { canUseTool: allowAllTools })
    const life = await begin()
    const { session } = life
    session.send('go')
    await replyWith(life, ['s', 'Slow'])
    const suspending = session.suspend()
    await until(() => slow.run('s').context.abortController.signal.aborted)
    const view = how === 'resume' ? session.resume() : session.send('more', { interrupt: how === 'interrupt' })
    const seen = readAll(view)
    slow.run('s').finish()
    await sayLast(life)
    await suspending
    expect(session.status).toBe('idle')
    const result = 'user: result s error'
    const rest = how === 'resume' ? [] : ['user: more']
    expect(said(session.transcript).slice(2)).toEqual([result, ...rest, 'assistant: Done.'])
    expect(said(await seen).slice(-1 - rest.length)).toEqual([...rest, 'assistant: Done.'])
  })

  it('D15a a suspension with an infinite grace period waits for what is under way; other periods are refused', async () => {
    const slow = heldTool('Slow')
    const { begin } = lives([slow.tool], { canUseTool: allowAllTools })
    const life = await begin()
    life.session.send('go')
    await replyWith(life, ['s', 'Slow'])
    for (const graceMs of [-1, Number.NaN, '5', null])
      await expect(life.session.suspend({ graceMs: graceMs as number })).rejects.toThrow(
        'graceMs: expected milliseconds',
      )
    const timer = vi.spyOn(globalThis, 'setTimeout')
    const suspending = life.session.suspend({ graceMs: Number.POSITIVE_INFINITY })
    expect(timer.mock.calls.filter(([, ms]) => ms === Number.POSITIVE_INFINITY)).toEqual([])
    timer.mockRestore()
    expect(slow.run('s').context.abortController.signal.aborted).toBe(false)
    slow.run('s').finish()
    await suspending
    expect(said(life.session.transcript).at(-1)).toBe('user: result s s done')
    expect(life.session.status).toBe('suspended')
  })

  it('S9 a message that interrupts while a run is being suspended rejects the question that the run leaves', async () => {
    const pay = heldTool('Pay')
    const { begin } = lives([pay.tool], { canUseTool: later })
    const life = await begin()
    const { session } = life
    let seen: Promise<QueryMessage[]> | undefined
    session.on('run_started', ({ run }) => {
      run.actor.subscribe((snapshot) => {
        if (snapshot.matches('suspending')) seen ??= readAll(session.send('stop', { interrupt: true }))
      })
    })
    session.send('go')
    await replyWith(life, ['p', 'Pay'])
    await sayLast(life)
    await session.whenIdle()
    expect([session.status, session.questions(), pay.started]).toEqual(['idle', [], []])
    expect(said((await seen) ?? [])).toEqual(['user: stop', 'assistant: Done.'])
  })

  it('S2 S9 the view of a message that interrupts ends, also if the host has stopped the session before', async () => {
    const host = new AbortController()
    const { first, seen } = await askedSession({ context: { abortController: host } })
    await seen
    host.abort('gone')
    expect(said(await readAll(first.session.send('stop', { interrupt: true })))).toContain('user: stop')
    await first.session.whenIdle()
    expect(first.session.status).toBe('idle')
  })

  it('S2 a message for which a run had no turn left is not lost: it waits in the log for the next run', async () => {
    const { begin } = lives([], { canUseTool: allowAllTools, maxTurns: 1 })
    const first = await begin()
    const seen = readAll(first.session.send('go'))
    const { held } = await startReply(first)
    void first.session.send('and this')
    void first.session.suspend({ graceMs: 60_000 })
    held.text('Done.')
    held.end()
    await seen
    await first.session.whenIdle()
    expect([first.session.result?.reason, first.session.status]).toEqual(['max_turns', 'suspended'])
    const second = await begin()
    expect(second.session.status).toBe('suspended')
    const answer = readAll(second.session.resume())
    await sayLast(second, 'Both done.')
    expect(said(await answer)).toEqual(['user: and this', 'assistant: Both done.'])
    expect(said(second.session.transcript)).toEqual([
      'user: go',
      'assistant: Done.',
      'user: and this',
      'assistant: Both done.',
    ])
  })

  it('S3 events say when a question opens and closes: a suspension does not close it, an answer does', async () => {
    const { begin } = lives([heldTool('Pay').tool], { canUseTool: later })
    const events: string[] = []
    const hear = ({ session }: Life, name: string): void => {
      const tell = (what: string) => events.push(`${name} ${what}, ${session.questions().length} open`)
      session.on('question_opened', ({ toolUseID }) => tell(`opened ${toolUseID}`))
      session.on('question_closed', () => tell('closed'))
    }
    const first = await begin()
    hear(first, 'first')
    first.session.send('pay')
    await replyWith(first, ['p', 'Pay'])
    await first.session.whenIdle()
    first.session.resume()
    await first.session.whenIdle()
    expect(events.splice(0)).toEqual(['first opened p, 1 open'])
    const second = await begin()
    hear(second, 'second')
    await second.session.answer(second.session.questions()[0]?.id as string, { behavior: 'deny', message: 'no' })
    await until(() => second.session.questions().length === 0)
    // nothing runs, and nobody has to poll
    expect([events.splice(0), second.session.status]).toEqual([['second closed, 0 open'], 'suspended'])
  })

  it('S3 D11 a question of a reply that no longer counts closes with an event', async () => {
    const world = lives([heldTool('Pay').tool], { canUseTool: later })
    const first = await world.begin()
    first.session.send('pay')
    await startReply(first)
    first.held.call('p', 'Pay')
    first.held.text('and then')
    await world.written('permission.asked')
    const second = await world.begin()
    const closed: string[] = []
    second.session.on('question_closed', ({ id }) => closed.push(id))
    const [question] = second.session.questions()
    second.session.resume()
    await until(() => second.held.requests.length === 1)
    expect(closed).toEqual([question?.id])
  })
})
