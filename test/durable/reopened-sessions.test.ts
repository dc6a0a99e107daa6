import { describe, expect, it } from 'vitest'
import { allowAllTools, type QueryMessage, type ToolUseContext } from '../../src/index.ts'
import { askedSession, later } from '../support/asked-session.ts'
import { type Life, lives, readAll, replyWith, said, sayLast, startReply, until } from '../support/durable-lives.ts'
import { heldTool } from '../support/held-tool.ts'
import { apiInShort } from '../support/query.ts'

describe('sessions that are opened again', () => {
  it.each([
    'a new session',
    'a session between two runs',
    'a reply that a crash cut off',
  ])('S9 where nothing goes on, a message that interrupts is part of the first request: %s', async (before) => {
    const world = lives([])
    const first = await world.begin()
    if (before !== 'a new session') {
      void readAll(first.session.send('hello'))
      if (before.includes('two runs')) await sayLast(first, 'hi')
      else {
        const { held } = await startReply(first)
        held.text('I am about')
        await world.written('reply.block')
      }
    }
    const life = before.includes('crash') ? await world.begin() : first
    const asked = life.held.requests.length
    const view = readAll(life.session.send('stop', { interrupt: true }))
    await sayLast(life)
    await view
    const [request, ...more] = life.held.requests.slice(asked)
    expect(apiInShort(request?.messages ?? []).at(-1)).toBe('user: stop')
    expect(more).toEqual([])
    expect(said(life.session.transcript).slice(-2)).toEqual(['user: stop', 'assistant: Done.'])
    await life.session.close()
  })

  it('S8 a reader that comes back to the next process with a result misses no part of its reply', async () => {
    const tools = ['A', 'B'].map((name) => heldTool(name, { safe: true }))
    const world = lives(
      tools.map(({ tool }) => tool),
      { canUseTool: allowAllTools },
    )
    const first = await world.begin()
    const seen: QueryMessage[] = []
    const view = first.session.send('go')
    void (async () => {
      for await (const message of view) seen.push(message)
    })()
    const { held } = await startReply(first)
    held.call('a', 'A')
    await until(() => tools[0]?.started.length === 1)
    tools[0]?.run('a').finish()
    // shown while the reply goes on
    await until(() => said(seen).includes('user: result a a done'))
    const last = seen.findLast(({ type }) => type === 'user')
    held.call('b', 'B')
    held.end('tool_use')
    await until(() => tools[1]?.started.length === 1)
    tools[1]?.run('b').finish()
    await sayLast(first)
    await first.session.close()
    const second = await world.begin()
    const missed = readAll(second.session.messages({ after: last?.uuid }))
    await second.session.close()
    expect(said(await missed)).toEqual([
      'assistant: call b B {}',
      'user: result a a done',
      'user: result b b done',
      'assistant: Done.',
    ])
  })

  it.each([
    ['deny', 'Pay(all)', 'Pay has no matchesRule'],
    ['ask', 'pay', 'Write Pay.'],
  ])('D16 an answer with %s rule %s, which cannot be used, is refused, and the question stays open', async (list, rule, why) => {
    const { first, seen, tools } = await askedSession()
    await seen
    const [question] = first.session.questions()
    const answering = first.session.answer(question?.id as string, { behavior: 'allow', addRules: { [list]: [rule] } })
    await expect(answering).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(new RegExp(`^answer.addRules.${list}: .*${why}`)),
    })
    expect(first.session.questions()).toEqual([question])
    expect(await first.session.answer(question?.id as string, { behavior: 'allow' })).toBe('accepted')
    await until(() => tools[0]?.started.length === 1)
  })

  it.each([
    ['deny', 'Pay(all)'],
    ['ask', 'pay'],
  ])('D14 a %s rule of the log that cannot be used ends no run: a person is asked', async (list, rule) => {
    const { first, seen, begin, journals, tools } = await askedSession()
    await seen
    const question = first.session.questions()[0]?.id as string
    await first.session.close()
    const answer = { behavior: 'allow', addRules: { [list]: [rule], allow: ['Pay'] } } as const
    expect(await journals.post('s', { type: 'answer', question, answer })).toBe('accepted')
    const second = await begin()
    second.session.resume()
    await until(() => tools[0]?.started.length === 1)
    tools[0]?.run('pay').finish()
    await replyWith(second, ['again', 'Pay'])
    await second.session.whenIdle()
    expect(second.session.result?.reason).toBe('suspended')
    expect(second.session.questions()).toMatchObject([{ toolUseID: 'again', because: { by: 'rule', rule: 'Pay' } }])
  })

  it.each([
    'suspend',
    'close',
  ] as const)('A3 D15 a call that was queued at an interrupt may ask, and then the run does not wait: %s ends', async (how) => {
    const [slow, pay] = [heldTool('Slow'), heldTool('Pay')]
    const world = lives([slow.tool, pay.tool], {
      canUseTool: ({ name }) => ({ behavior: name === 'Slow' ? 'allow' : 'later' }),
    })
    const first = await world.begin()
    first.session.send('go')
    await replyWith(first, ['s', 'Slow'], ['p', 'Pay'])
    first.session.interrupt()
    slow.run('s').finish()
    await until(() => first.session.status === 'suspended')
    expect(first.session.questions()).toMatchObject([{ toolName: 'Pay' }])
    await first.session[how]()
    const second = await world.begin()
    await second.session.answer(second.session.questions()[0]?.id as string, { behavior: 'allow' })
    second.session.resume()
    await until(() => pay.started.length === 1)
    pay.run('p').finish()
    await sayLast(second)
    await second.session.whenIdle()
    expect(said(second.session.transcript)).toEqual([
      'user: go',
      'assistant: call s Slow {}',
      'assistant: call p Pay {}',
      'user: result s s done',
      'user: result p p done',
      'assistant: Done.',
    ])
  })

  it.each([
    'suspend',
    'close',
  ] as const)('A3 D15a a call that an interrupt lets go on ends when told: %s does not wait for it', async (how) => {
    const slow = heldTool('Slow')
    const world = lives([slow.tool], { canUseTool: allowAllTools })
    const first = await world.begin()
    first.session.send('go')
    await replyWith(first, ['s', 'Slow'])
    first.session.interrupt()
    const ending = first.session[how]()
    await until(() => slow.run('s').context.abortController.signal.reason === 'suspend')
    slow.run('s').finish()
    await ending
    const second = await world.begin()
    expect(second.session.status).toBe('suspended')
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    expect(said(second.session.transcript).slice(-2)).toEqual(['user: result s error', 'assistant: Done.'])
  })

  it('D6a an abort that arrives while the session closes waits for its next owner', async () => {
    const { first, seen, begin, journals } = await askedSession()
    await seen
    const closing = first.session.close()
    expect(await journals.post('s', { type: 'abort', uuid: 'stop', reason: 'enough' })).toBe('accepted')
    await closing
    const second = await begin()
    await until(() => second.session.result !== undefined)
    expect(second.session.result).toMatchObject({ abortReason: 'enough' })
    expect(said(second.session.transcript).at(-2)).toContain('user: result pay')
    await second.session.close()
  })

  it('S6 a fork in a later process has the rules and the context of its place in the conversation', async () => {
    const contextModifier = (context: ToolUseContext) => ({ ...context, seat: 'A1' })
    const pay = { ...heldTool('Pay').tool, call: async () => ({ data: 'paid', contextModifier }) }
    const world = lives([pay], { canUseTool: later, contextKeys: ['seat'] })
    const first = await world.begin()
    void first.session.send('hello')
    await sayLast(first, 'hi')
    void first.session.send('pay')
    await replyWith(first, ['p', 'Pay'])
    const id = first.session.questions()[0]?.id as string
    await first.session.answer(id, { behavior: 'allow', addRules: { allow: ['Pay'] } })
    await sayLast(first)
    await first.session.whenIdle()
    const forks = async ({ session }: Life): Promise<unknown[]> => {
      const all: unknown[] = []
      for (const { uuid } of session.transcript) {
        const fork = await session.fork({ at: uuid })
        all.push([fork.transcript.length, fork.context.permissions?.allow, fork.context.seat])
        await fork.close()
      }
      return all
    }
    const before = await forks(first)
    expect(before).toEqual([
      [1, undefined, undefined],
      [2, undefined, undefined],
      [3, undefined, undefined],
      [5, ['Pay'], 'A1'],
      [5, ['Pay'], 'A1'],
      [6, ['Pay'], 'A1'],
    ])
    await first.session.close()
    expect(await forks(await world.begin())).toEqual(before)
  })

  it.each([
    'at once',
    'behind one that waits for a person',
  ])('D14 S6 a call that takes a key out of the context, %s', async (when) => {
    const never = new Promise<never>(() => undefined)
    const toolOf = (name: string, contextModifier?: (context: ToolUseContext) => ToolUseContext) => ({
      ...heldTool(name, { safe: true }).tool,
      call: async () => ({ data: name, contextModifier }),
    })
    const leave = toolOf('Leave', ({ plan: _plan, ...context }) => context as ToolUseContext)
    const world = lives([toolOf('Ask'), leave], {
      canUseTool: ({ name }) => (name === 'Ask' ? never : { behavior: 'allow' }),
      contextKeys: ['plan', 'cwd'],
      context: { plan: 'draft', cwd: '/a' },
    })
    const first = await world.begin()
    void first.session.send('go')
    if (when === 'at once') {
      await replyWith(first, ['l', 'Leave'])
      await sayLast(first)
      await first.session.whenIdle()
      const fork = await first.session.fork({ id: 'fork' })
      await fork.close()
    } else {
      await replyWith(first, ['a', 'Ask'], ['l', 'Leave'])
      await world.written('call.completed')
    }
    const second = await world.begin()
    if (when !== 'at once') {
      expect(second.session.context).toMatchObject({ plan: 'draft', cwd: '/a' })
      await second.session.answer(second.session.questions()[0]?.id as string, { behavior: 'deny', message: 'no' })
      void second.session.resume()
      await sayLast(second)
      await second.session.whenIdle()
    }
    expect([second.session.context.plan, second.session.context.cwd]).toEqual([undefined, '/a'])
    await second.session.close()
    const third = await world.begin({ id: when === 'at once' ? 'fork' : 's', mode: 'resume' })
    expect([third.session.context.plan, third.session.context.cwd]).toEqual([undefined, '/a'])
    await third.session.close()
  })

  describe('D14 a call of a reply that is discarded', () => {
    const contextModifier = (context: ToolUseContext) => ({ ...context, seat: 'A1' })
    const look = {
      ...heldTool('Look', { safe: true, isReadOnly: () => true }).tool,
      call: async () => ({ data: 'seen', contextModifier }),
    }

    const changed = async () => {
      const world = lives([look], { canUseTool: allowAllTools, contextKeys: ['seat'], retry: { backoffMs: 0 } })
      const first = await world.begin()
      const seen: QueryMessage[] = []
      void (async () => {
        for await (const message of first.session.send('go')) seen.push(message)
      })()
      const { held } = await startReply(first)
      held.call('l', 'Look')
      held.text('and')
      await until(() => said(seen).includes('user: result l seen'))
      return { world, first, held }
    }

    it('changes no context, in its process and in later ones', async () => {
      const { world, first, held } = await changed()
      held.fail(Object.assign(new Error('overloaded'), { status: 529 }))
      await sayLast(first)
      await first.session.whenIdle()
      expect(first.session.context.seat).toBe(undefined)
      await first.session.close()
      const second = await world.begin()
      expect(second.session.context.seat).toBe(undefined)
      await second.session.close()
    })

    it('changes no context after a crash', async () => {
      const { world } = await changed()
      const second = await world.begin()
      expect(second.session.context.seat).toBe(undefined)
      void second.session.resume()
      await sayLast(second)
      await second.session.whenIdle()
      expect(second.session.context.seat).toBe(undefined)
      await second.session.close()
      const third = await world.begin()
      expect(third.session.context.seat).toBe(undefined)
      await third.session.close()
    })
  })

  describe('D14 D15 a call that changes the context, behind one that waits for a person', () => {
    const seatOf = (name: string) => ({
      ...heldTool(name, { safe: true }).tool,
      call: async () => ({
        data: name,
        contextModifier: (context: ToolUseContext) => ({ ...context, seat: `${context.seat}${name}` }),
      }),
    })
    const answers = async (life: Life): Promise<void> => {
      void life.session.resume()
      await life.session.answer(life.session.questions()[0]?.id as string, { behavior: 'allow' })
      await sayLast(life)
      await life.session.whenIdle()
    }

    it.each([
      'is suspended',
      'is suspended and opened again',
      'crashes',
    ])('has its change when the session %s', async (how) => {
      const never = new Promise<never>(() => undefined)
      const world = lives([seatOf('A'), seatOf('B')], {
        canUseTool: ({ name }) =>
          name === 'B' ? { behavior: 'allow' } : how === 'crashes' ? never : { behavior: 'later' },
        contextKeys: ['seat'],
        context: { seat: '-' },
      })
      const first = await world.begin()
      void first.session.send('go')
      await replyWith(first, ['a', 'A'], ['b', 'B'])
      if (how === 'crashes') await world.written('call.completed')
      else await until(() => first.session.status === 'suspended')
      const goesOn = how === 'is suspended' ? first : await world.begin()
      expect([goesOn.session.status, goesOn.session.context.seat]).toEqual(['suspended', '-'])
      await answers(goesOn)
      // its modifier cannot be called again, so its change is the one of its time
      expect(goesOn.session.context.seat).toBe('-B')
      await goesOn.session.close()
      const last = await world.begin()
      expect(last.session.context.seat).toBe('-B')
      await last.session.close()
    })
  })
})
