import { AsyncLocalStorage } from 'node:async_hooks'
import { type JournalStore, memoryJournals, type NewRecord, type SessionNote } from 'signalbox/durable'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import {
  type AnyTool,
  allowAllTools,
  type CanUseTool,
  createSession,
  type HookCallback,
  type PermissionReply,
} from '../../src/index.ts'
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
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'
import { testQuery } from '../support/query.ts'

const later: CanUseTool = () => ({ behavior: 'later' })
const nobody: CanUseTool = () => {
  throw new Error('canUseTool is asked')
}
const defer: HookCallback = async () => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' },
})
const deferring = { hooks: { PreToolUse: [{ hooks: [defer] }] } }

async function readRecords(journals: JournalStore): Promise<unknown[]> {
  const records: unknown[] = []
  for await (const record of journals.read('s')) records.push(record)
  return records
}

async function askedSession(options: Parameters<typeof lives>[1] = {}, names: string[] = ['Pay']) {
  const tools = names.map((name) => heldTool(name))
  const world = lives(
    tools.map(({ tool }) => tool),
    { canUseTool: later, ...options },
  )
  const first = await world.begin()
  const seen = readAll(first.session.send('pay'))
  await replyWith(first, ...names.map((name) => [name.toLowerCase(), name] as const))
  return { ...world, tools, first, seen }
}

describe('questions that outlive their process', () => {
  it.each([
    ['canUseTool answers later', {}],
    ['a hook defers, and canUseTool is not asked', { canUseTool: nobody, context: deferring }],
    ['there is no canUseTool', { canUseTool: undefined }],
  ])('D15 a run that can only wait for a person ends suspended, and the question is open: %s', async (_, options) => {
    const { first, seen, records } = await askedSession(options)
    await seen
    expect(first.session.result?.reason).toBe('suspended')
    expect(first.session.status).toBe('suspended')
    expect(first.session.questions()).toMatchObject([{ toolUseID: 'pay', toolName: 'Pay', input: {}, agents: [] }])
    expect((await records()).at(-1)?.t).toBe('run.suspended')
  })

  it.each([
    ['an answer of later', later, {}],
    ['a hook that defers', nobody, deferring],
  ])('D15 P5 in mode dontAsk, %s is a denial: the run goes on', async (_, canUseTool, hooked) => {
    const context = { ...hooked, permissions: { mode: 'dontAsk' as const } }
    const { first, seen, tools } = await askedSession({ canUseTool, context })
    await sayLast(first)
    expect(JSON.stringify(await seen)).toContain('in mode dontAsk nobody is asked')
    expect([first.session.result?.reason, first.session.questions(), tools[0]?.started]).toEqual(['completed', [], []])
  })

  it('D15 while a request, a body or a hook is under way, a question does not suspend the run', async () => {
    const pay = heldTool('Pay', { safe: true })
    const read = heldTool('Read', { safe: true })
    let endHook: () => void = () => undefined
    const slowHook = () => new Promise<void>((resolve) => (endHook = resolve))
    const world = lives([pay.tool, read.tool], {
      canUseTool: ({ name }) => ({ behavior: name === 'Pay' ? 'later' : 'allow' }),
      context: { hooks: { PostToolUse: [{ matcher: 'Read', hooks: [slowHook] }] } },
    })
    const first = await world.begin()
    const seen = readAll(first.session.send('pay'))
    await startReply(first)
    const isRunning = async (step: string) => {
      await settle()
      expect([step, first.session.status, first.session.questions().length]).toEqual([step, 'running', 1])
    }
    first.held.call('p', 'Pay')
    first.held.call('r', 'Read')
    await until(() => read.started.length === 1)
    await isRunning('request')
    first.held.end('tool_use')
    await isRunning('body')
    read.run('r').finish()
    await isRunning('hook')
    endHook()
    await seen
    expect(first.session.status).toBe('suspended')
  })

  it('D6a D15 an answer in the same process lets the session go on by itself', async () => {
    const { first, tools, seen } = await askedSession()
    await seen
    const [question] = first.session.questions()
    expect(await first.session.answer(question?.id as string, { behavior: 'allow' }, { by: 'Ann' })).toBe('accepted')
    await until(() => tools[0]?.started.length === 1)
    expect(await first.session.answer(question?.id as string, { behavior: 'allow' })).toBe('stale')
    tools[0]?.run('pay').finish()
    await sayLast(first)
    expect(said(first.session.transcript)).toEqual([
      'user: pay',
      'assistant: call pay Pay {}',
      'user: result pay pay done',
      'assistant: Done.',
    ])
    // the run that went on shows its open turn again: whoever reads from the start sees it once
    const shown: string[] = []
    for await (const message of first.session.messages()) {
      if (message.type === 'assistant') shown.push(message.uuid)
      if (message.uuid === first.session.transcript.at(-1)?.uuid) break
    }
    expect(shown).toEqual([...new Set(shown)])
    expect(shown).toHaveLength(2)
  })

  it('D15 L5 a question outlives an error of the model that ends the run: answered, the session asks the model again', async () => {
    const pay = heldTool('Pay')
    const world = lives([pay.tool], { canUseTool: later })
    const first = await world.begin()
    const seen = readAll(first.session.send('pay'))
    const { held } = await startReply(first)
    held.call('p', 'Pay')
    held.text('and then')
    await until(() => first.session.questions().length === 1)
    held.fail(Object.assign(new Error('bad request'), { status: 400 }))
    await seen
    expect(first.session.status).toBe('suspended')
    const second = await world.begin()
    const [question] = second.session.questions()
    expect(question).toMatchObject({ toolUseID: 'p' })
    expect(await second.session.answer(question?.id as string, { behavior: 'allow' })).toBe('accepted')
    second.session.resume()
    await until(() => pay.started.length === 1)
    pay.run('p').finish()
    await sayLast(second)
    await second.session.whenIdle()
    expect(second.session.result?.reason).toBe('completed')
    expect(said(second.session.transcript).at(-1)).toBe('assistant: Done.')
  })

  it('D2 D16 a service that repeats the id of a discarded reply does not reuse the answer to it', async () => {
    const pay = heldTool('Pay')
    const world = lives([pay.tool], { canUseTool: later })
    const first = await world.begin()
    first.session.send('pay')
    await until(() => first.held.requests.length === 1)
    first.held.start('same')
    first.held.call('p', 'Pay')
    first.held.text('and then')
    await until(() => first.session.questions().length === 1)
    await first.session.suspend()
    // the reply was cut off: its question is answered, and then it is discarded
    const second = await world.begin()
    const [old] = second.session.questions()
    expect(await second.session.answer(old?.id as string, { behavior: 'allow' })).toBe('accepted')
    second.session.resume()
    await until(() => second.held.requests.length === 1)
    second.held.start('same')
    second.held.call('p', 'Pay')
    second.held.end('tool_use')
    await until(() => second.session.questions().length === 1)
    const [question] = second.session.questions()
    expect(question?.id).not.toBe(old?.id)
    expect(await second.session.answer(question?.id as string, { behavior: 'allow' })).toBe('accepted')
    await until(() => pay.started.length === 1)
  })

  it('D11 D16 a reply that was cut off before anything started is discarded: its question closes, and its answer is stale', async () => {
    const tool = heldTool('Pay')
    const world = lives([tool.tool], { canUseTool: () => ({ behavior: 'later' }) })
    const first = await world.begin()
    first.session.send('pay')
    await startReply(first)
    first.held.call('p', 'Pay')
    first.held.text('and then')
    await world.written('permission.asked')
    const second = await world.begin()
    const [question] = second.session.questions()
    second.session.resume()
    await world.written('attempt.discarded')
    expect(second.session.questions()).toEqual([])
    expect(await second.session.answer(question?.id as string, { behavior: 'allow' })).toBe('stale')
    await sayLast(second)
    await second.session.whenIdle()
    expect(tool.started).toEqual([])
  })

  it('D16 an answer to a question whose input has changed is stale, and nothing happens', async () => {
    const amountOf = (inputSchema: z.ZodType) => ({ ...pay.tool, inputSchema }) as unknown as AnyTool
    const pay = heldTool('Pay')
    const world = lives([amountOf(z.object({ amount: z.number().default(1) }))], { canUseTool: later })
    const first = await world.begin()
    const seen = readAll(first.session.send('pay'))
    await replyWith(first, ['p', 'Pay'])
    await seen
    const [old] = first.session.questions()
    // today's schema shows another input for the same call
    const second = await world.begin({ tools: [amountOf(z.object({ amount: z.number().default(1_000) }))] })
    await readAll(second.session.resume())
    const [question] = second.session.questions()
    expect([old?.input, question?.input]).toEqual([{ amount: 1 }, { amount: 1_000 }])
    const before = (await world.records()).length
    expect(await second.session.answer(old?.id as string, { behavior: 'allow' })).toBe('stale')
    await settle()
    expect([pay.started, second.session.status, (await world.records()).length]).toEqual([[], 'suspended', before])
    expect(second.session.questions()).toEqual([question])
  })

  it('D6 D11 a question is open again under its id, and answering it needs no run', async () => {
    const hooked: string[] = []
    const context = {
      hooks: { PreToolUse: [{ hooks: [async () => void hooked.push('hook')] }] },
    }
    const { first, seen, begin, tools, records } = await askedSession({ context })
    await seen
    const [before] = first.session.questions()
    const second = await begin()
    expect(second.session.questions()).toEqual([before])
    expect(await second.session.answer(before?.id as string, { behavior: 'allow' }, { by: 'Ann' })).toBe('accepted')
    await settle()
    expect(second.session.questions()).toEqual([])
    expect(tools[0]?.started).toEqual([])
    const again = readAll(second.session.resume())
    await until(() => tools[0]?.started.length === 1)
    tools[0]?.run('pay').finish()
    await sayLast(second)
    await again
    expect(hooked).toEqual(['hook'])
    expect((await records()).find(({ t }) => t === 'permission.answered')).toMatchObject({
      by: 'Ann',
      note: before?.id,
      answer: { behavior: 'allow' },
    })
    expect((await records()).filter(({ t }) => t === 'permission.asked')).toHaveLength(1)
  })

  it('D6a D16 another process answers while the run is down: the first answer counts', async () => {
    const { first, seen, begin, tools, journals } = await askedSession()
    await seen
    const [question] = first.session.questions()
    await first.session.close()
    const note = (answer: 'allow' | 'deny'): SessionNote => ({
      type: 'answer',
      question: question?.id as string,
      answer: answer === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message: 'no' },
    })
    expect(await Promise.all([journals.post('s', note('deny')), journals.post('s', note('allow'))])).toEqual([
      'accepted',
      'stale',
    ])
    const second = await begin()
    const again = readAll(second.session.resume())
    await sayLast(second)
    await again
    expect(tools[0]?.started).toEqual([])
    expect(JSON.stringify(second.session.transcript)).toContain('<tool_use_error>no</tool_use_error>')
  })

  it('D11 an answer holds after a crash, but a deny rule of today is stronger', async () => {
    const { first, seen, begin, tools } = await askedSession()
    await seen
    const [question] = first.session.questions()
    await first.session.suspend()
    await first.session.answer(question?.id as string, { behavior: 'allow' })
    await settle()
    const second = await begin({ context: { permissions: { deny: ['Pay'] } } })
    const again = readAll(second.session.resume())
    await sayLast(second)
    await again
    expect(tools[0]?.started).toEqual([])
    expect(JSON.stringify(second.session.transcript)).toContain('denied by the rule')
  })

  it('D11 D16 the tool is gone when its question is answered: the call does not run, and the run goes on', async () => {
    const { first, seen, begin, tools } = await askedSession()
    await seen
    const [question] = first.session.questions()
    const second = await begin({ tools: [] })
    expect(second.session.questions()).toEqual([question])
    expect(await second.session.answer(question?.id as string, { behavior: 'allow' })).toBe('accepted')
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    expect([tools[0]?.started, second.session.result?.reason]).toEqual([[], 'completed'])
    expect(JSON.stringify(second.session.transcript)).toContain('No such tool available: Pay')
    expect(await second.session.answer(question?.id as string, { behavior: 'allow' })).toBe('stale')
  })

  it('D14 rules that came with an answer hold after a resume', async () => {
    const { first, seen, begin, tools } = await askedSession()
    await seen
    const [question] = first.session.questions()
    await first.session.suspend()
    await first.session.answer(question?.id as string, { behavior: 'allow', addRules: { allow: ['Pay'] } })
    await settle()
    const second = await begin()
    expect(second.session.context.permissions?.allow).toEqual(['Pay'])
    second.session.resume()
    await until(() => tools[0]?.started.length === 1)
    tools[0]?.run('pay').finish()
    await replyWith(second, ['again', 'Pay'])
    await until(() => tools[0]?.started.length === 2)
    expect(second.session.questions()).toEqual([])
  })

  it('D11 D14 rules that came with an answer hold although the reply that asked is discarded', async () => {
    const pay = heldTool('Pay', { safe: true, isReadOnly: () => true })
    const world = lives([pay.tool], { canUseTool: later })
    const first = await world.begin()
    first.session.send('pay')
    await startReply(first)
    first.held.call('p', 'Pay')
    first.held.text('and then')
    await until(() => first.session.questions().length === 1)
    const [question] = first.session.questions()
    await first.session.answer(question?.id as string, { behavior: 'allow', addRules: { allow: ['Pay'] } })
    await world.written('permission.answered')
    const second = await world.begin()
    second.session.resume()
    await world.written('attempt.discarded')
    for (const life of [second, await world.begin()]) expect(life.session.context.permissions?.allow).toEqual(['Pay'])
  })

  it('D11 a deny rule of today holds for a question that nobody has answered', async () => {
    const { seen, begin, tools } = await askedSession()
    await seen
    const second = await begin({ context: { permissions: { deny: ['Pay'] } } })
    const again = readAll(second.session.resume())
    await sayLast(second)
    await again
    expect([tools[0]?.started, second.session.questions()]).toEqual([[], []])
    expect(JSON.stringify(second.session.transcript)).toContain('denied by the rule')
  })

  it('D6 the question is in the log before the host is asked', async () => {
    const memory = memoryJournals()
    const appended: string[] = []
    const journals: JournalStore = {
      ...memory,
      async open(id, options) {
        const journal = await memory.open(id, options)
        const append = journal.append.bind(journal)
        return Object.assign(journal, {
          append: (record: NewRecord, json?: string) => {
            appended.push(record.t)
            append(record, json)
          },
        })
      },
    }
    const asked: boolean[] = []
    const canUseTool: CanUseTool = () => {
      asked.push(appended.includes('permission.asked'))
      return { behavior: 'later' }
    }
    const { seen } = await askedSession({ journals, canUseTool })
    await seen
    expect(asked).toEqual([true])
  })

  it('D15 two questions of one reply, answered in reverse order in different lives', async () => {
    const { first, seen, begin, tools } = await askedSession({}, ['Pay', 'Ship'])
    await seen
    // an unsafe call waits alone, so only the first has been asked
    expect(first.session.questions().map(({ toolUseID }) => toolUseID)).toEqual(['pay'])
    const second = await begin()
    const again = readAll(second.session.resume())
    await again
    expect(second.session.result?.reason).toBe('suspended')
    await second.session.answer(second.session.questions()[0]?.id as string, { behavior: 'allow' })
    await until(() => tools[0]?.started.length === 1)
    tools[0]?.run('pay').finish()
    await until(() => second.session.status === 'suspended')
    expect(second.session.questions().map(({ toolUseID }) => toolUseID)).toEqual(['ship'])
    const third = await begin()
    expect(third.session.questions().map(({ toolUseID }) => toolUseID)).toEqual(['ship'])
    await third.session.answer(third.session.questions()[0]?.id as string, { behavior: 'deny', message: 'not yet' })
    const last = readAll(third.session.resume())
    await sayLast(third)
    expect(said(await last)).toEqual([
      'assistant: call pay Pay {}',
      'assistant: call ship Ship {}',
      'user: result pay pay done',
      'user: result ship error',
      'assistant: Done.',
    ])
  })

  it('D6a an answer of canUseTool that comes after a suspension counts at the next resume', async () => {
    let answer: (reply: PermissionReply) => void = () => undefined
    const canUseTool: CanUseTool = () => new Promise((resolve) => (answer = resolve))
    const { first, begin, tools } = await askedSession({ canUseTool })
    expect(first.session.status).toBe('running')
    expect(first.session.questions()).toHaveLength(1)
    await first.session.suspend()
    expect(first.session.result?.reason).toBe('suspended')
    answer({ behavior: 'allow' })
    await settle()
    expect(first.session.questions()).toEqual([])
    const second = await begin({ canUseTool: later })
    second.session.resume()
    await until(() => tools[0]?.started.length === 1)
  })

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

  it('S4 a message that somebody posts runs in the async context of whoever opened the session', async () => {
    const user = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const pay = { ...heldTool('Pay').tool, call: async () => ({ data: seen.push(user.getStore()) }) }
    const world = lives([pay], { canUseTool: allowAllTools })
    const life = await user.run('opener', () => world.begin())
    await user.run('poster', () => world.journals.post('s', { type: 'message', uuid: 'm', content: 'pay' }))
    await replyWith(life, ['p', 'Pay'])
    await until(() => seen.length === 1)
    expect(seen).toEqual(['opener'])
  })

  it('D15 in a plain query or session the question waits, and the run goes on with its answer', async () => {
    const tools = [heldTool('Pay'), heldTool('Pay')] as const
    const { run, held } = testQuery([tools[0].tool], { canUseTool: later })
    const model = heldModel()
    const session = createSession({ tools: [tools[1].tool], model: model.model, canUseTool: later })
    session.send('pay')
    await settle()
    for (const each of [held, model]) {
      each.start()
      each.call('pay', 'Pay')
      each.end('tool_use')
    }
    await settle()
    expect([run.result, run.executor.openQuestions().length]).toEqual([undefined, 1])
    expect([session.status, session.questions().length]).toEqual(['running', 1])
    run.executor.answer('pay', { behavior: 'allow' })
    await session.answer(session.questions()[0]?.id as string, { behavior: 'allow' })
    await settle()
    expect(tools.map(({ started }) => started)).toEqual([['pay'], ['pay']])
  })
})

describe('messages and aborts from another process', () => {
  it('D6a a message that was posted starts a run, once', async () => {
    const { begin, journals } = lives([], { canUseTool: allowAllTools })
    const first = await begin()
    const note: SessionNote = { type: 'message', uuid: 'm1', content: 'hello' }
    expect(await journals.post('s', note)).toBe('accepted')
    expect(await journals.post('s', note)).toBe('stale')
    await sayLast(first, 'hi')
    expect(said(first.session.transcript)).toEqual(['user: hello', 'assistant: hi'])
    const second = await begin()
    await settle()
    expect(second.session.status).toBe('idle')
  })

  it('D20 a run that a waiting message begins is reported to the listeners that the opener adds', async () => {
    const world = lives([], { canUseTool: allowAllTools })
    const first = await world.begin()
    await first.session.close()
    await world.journals.post('s', { type: 'message', uuid: 'm1', content: 'hello' })
    const { session, ...second } = await world.begin()
    const shown: string[] = []
    expect(session.status).toBe('suspended')
    session.on('run_started', ({ run }) => run.onMessage(({ type }) => shown.push(type)))
    await sayLast({ session, ...second }, 'hi')
    await session.whenIdle()
    expect(shown.filter((type) => type !== 'system')).toEqual(['user', 'assistant'])
  })

  it('D15 a session that was resumed as soon as it was opened, and waits again, begins no second run', async () => {
    const { first, seen, begin } = await askedSession()
    await seen
    await first.session.close()
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      const { session } = await begin()
      let runs = 0
      session.on('run_started', () => void runs++)
      session.resume()
      await settle()
      expect([runs, session.status]).toEqual([1, 'suspended'])
      vi.runAllTimers()
      await settle()
      expect([runs, session.status]).toEqual([1, 'suspended'])
    } finally {
      vi.useRealTimers()
    }
  })

  it('D20 a message or an answer to a session that nobody has open waits in its inbox until somebody opens it', async () => {
    const { first, seen, begin, tools, journals } = await askedSession()
    await seen
    const [question] = first.session.questions()
    await first.session.close()
    const before = JSON.stringify(await readRecords(journals))
    const answer: SessionNote = { type: 'answer', question: question?.id as string, answer: { behavior: 'allow' } }
    expect(await journals.post('s', answer)).toBe('accepted')
    expect(await journals.post('s', { type: 'message', uuid: 'm1', content: 'and hurry' })).toBe('accepted')
    await settle()
    expect([JSON.stringify(await readRecords(journals)), tools[0]?.started]).toEqual([before, []])
    const second = await begin()
    second.session.resume()
    await until(() => tools[0]?.started.length === 1)
    tools[0]?.run('pay').finish()
    await sayLast(second)
    await second.session.whenIdle()
    expect(said(second.session.transcript).slice(-3)).toEqual([
      'user: result pay pay done',
      'user: and hurry',
      'assistant: Done.',
    ])
  })

  it('D6a an abort that was posted ends the run, and holds for a suspended one', async () => {
    const { first, seen, journals, records } = await askedSession()
    await seen
    await journals.post('s', { type: 'abort', uuid: 'a1', reason: 'changed my mind' })
    await until(() => first.session.status === 'idle')
    expect(first.session.result?.reason).toBe('aborted_tools')
    expect((await records()).at(-1)).toMatchObject({ t: 'run.ended', note: 'a1' })
    expect(first.session.questions()).toEqual([])
  })
})
