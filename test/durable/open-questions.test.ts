import { type JournalStore, memoryJournals, type NewRecord } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { type CanUseTool, createSession } from '../../src/index.ts'
import { askedSession, deferring, later, nobody } from '../support/asked-session.ts'
import { lives, readAll, said, sayLast, settle, startReply, until } from '../support/durable-lives.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'
import { testQuery } from '../support/query.ts'

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
