import { foldJournal, memoryJournals } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { allowAllTools } from '../../src/index.ts'
import { lives, readAll, replyWith, said, sayLast, settle, startReply, until } from '../support/durable-lives.ts'
import { failingJournals } from '../support/failing-journals.ts'
import { heldTool } from '../support/held-tool.ts'

describe('a log that fails', () => {
  it('D19 a call that cannot be recorded does not run, and the query ends journal_error', async () => {
    const { journals, breakDown } = failingJournals()
    const write = heldTool('Write')
    const { begin } = lives([write.tool], { canUseTool: allowAllTools, journals })
    const first = await begin()
    const seen = readAll(first.session.send('go'))
    await startReply(first)
    breakDown()
    first.held.call('w', 'Write')
    first.held.end('tool_use')
    const messages = await seen
    expect(write.started).toEqual([])
    expect(first.session.result).toMatchObject({ reason: 'journal_error', error: { code: 'journal_error' } })
    expect(messages.filter(({ type }) => type === 'user')).toHaveLength(1)
    expect(messages.at(-1)).toMatchObject({ type: 'system', subtype: 'result_not_recorded', toolUseID: 'w' })
    expect(first.held.requests).toHaveLength(1)
  })

  it('D19 a call that runs finishes; its result is not handed over, and the session can be resumed', async () => {
    const { journals, breakDown, mend } = failingJournals()
    const write = heldTool('Write')
    const { begin } = lives([write.tool], { canUseTool: allowAllTools, journals })
    const first = await begin()
    const seen = readAll(first.session.send('go'))
    await replyWith(first, ['w', 'Write'])
    await until(() => write.started.length === 1)
    breakDown()
    write.run('w').finish()
    const messages = await seen
    expect(first.session.result).toMatchObject({ reason: 'journal_error' })
    expect(JSON.stringify(messages)).not.toContain('w done')
    expect(messages.at(-1)).toMatchObject({ subtype: 'result_not_recorded', toolUseID: 'w' })
    expect(said(first.session.transcript)).toEqual(['user: go'])
    mend()
    const second = await begin()
    const again = readAll(second.session.resume())
    await sayLast(second)
    await again
    expect(said(second.session.transcript)).toEqual([
      'user: go',
      'assistant: call w Write {}',
      'user: result w error',
      'assistant: Done.',
    ])
  })

  it('D19 a log that fails before the request: the model is not asked', async () => {
    const { journals, breakDown } = failingJournals()
    const { begin } = lives([], { canUseTool: allowAllTools, journals })
    const first = await begin()
    breakDown()
    await readAll(first.session.send('go'))
    expect(first.session.result).toMatchObject({ reason: 'journal_error' })
    expect(first.held.requests).toHaveLength(0)
    expect(first.session.status).toBe('suspended')
  })

  it('D19 a log that is full ends the run in the same way', async () => {
    const { begin } = lives([], { canUseTool: allowAllTools, journals: memoryJournals({ limits: { records: 4 } }) })
    const first = await begin()
    const seen = readAll(first.session.send('go'))
    await sayLast(first)
    await seen
    expect(first.session.result).toMatchObject({ reason: 'journal_error', error: { code: 'journal_full' } })
  })

  it.each([
    ['a session with too many records', { records: 15 }, 'the same process'],
    ['a session with too many records', { records: 15 }, 'the next process'],
    ['a session with too many bytes', { sessionBytes: 2_200 }, 'the next process'],
  ])('D23 S6 %s is full (%j): fork continues the conversation in a new log, in %s', async (_, limits, where) => {
    const write = heldTool('Write')
    const { begin, journals } = lives([write.tool], { canUseTool: allowAllTools, journals: memoryJournals({ limits }) })
    const first = await begin()
    const seen = readAll(first.session.send('one'))
    await sayLast(first, 'Said.')
    await seen
    const rest = readAll(first.session.send('two'))
    await replyWith(first, ['w', 'Write'])
    await until(() => write.started.length === 1 || first.session.result?.reason === 'journal_error')
    if (write.started.length === 1) write.run('w').finish()
    await rest
    expect(first.session.result).toMatchObject({ reason: 'journal_error', error: { code: 'journal_full' } })
    const life = where === 'the same process' ? first : await begin()
    const fork = await life.session.fork({ id: 'other' })
    expect(said(fork.transcript).slice(0, 2)).toEqual(['user: one', 'assistant: Said.'])
    const before = life.held.requests.length
    const view = readAll(fork.send('go on'))
    await until(() => life.held.requests.length > before)
    await sayLast(life)
    await view
    expect(fork.result?.reason).toBe('completed')
    expect(said(fork.transcript).slice(-2)).toEqual(['user: go on', 'assistant: Done.'])
    await fork.close()
    const records = []
    for await (const record of journals.read('other')) records.push(record)
    expect(foldJournal(records).transcript).toEqual(fork.transcript)
  })

  it('D10 D19 a fenced owner hands over nothing, starts nothing and tells its bodies to stop', async () => {
    const write = heldTool('Write', { obedient: true })
    const next = heldTool('Next')
    const { begin, written } = lives([write.tool, next.tool], { canUseTool: allowAllTools })
    const first = await begin()
    const seen = readAll(first.session.send('go'))
    await replyWith(first, ['w', 'Write'], ['n', 'Next'])
    await until(() => write.started.length === 1)
    await written('reply.stopped')
    const second = await begin()
    const { signal } = write.run('w').context.abortController
    // its next record finds out
    first.session.send('more')
    await until(() => signal.aborted)
    const messages = await seen
    expect(first.session.result).toMatchObject({ reason: 'journal_error', error: { code: 'session_fenced' } })
    expect(JSON.stringify(messages)).not.toContain('w done')
    expect(messages.filter((message) => message.type === 'system' && message.subtype !== 'model_reply')).toEqual([])
    expect(next.started).toEqual([])
    const again = readAll(second.session.resume())
    await until(() => next.started.length === 1)
    next.run('n').finish()
    await sayLast(second)
    await again
    expect(said(second.session.transcript).slice(-3)).toEqual([
      'user: result w error',
      'user: result n n done',
      'assistant: Done.',
    ])
  })
})

describe('session.suspend', () => {
  it('D15a a turn that ends within the grace is over, and no further request is made', async () => {
    const write = heldTool('Write')
    const { begin } = lives([write.tool], { canUseTool: allowAllTools })
    const first = await begin()
    const seen = readAll(first.session.send('go'))
    await replyWith(first, ['w', 'Write'])
    await until(() => write.started.length === 1)
    const suspended = first.session.suspend({ graceMs: 60_000 })
    write.run('w').finish()
    await suspended
    await seen
    expect(first.session.result?.reason).toBe('suspended')
    expect(said(first.session.transcript)).toEqual(['user: go', 'assistant: call w Write {}', 'user: result w w done'])
    expect(first.held.requests).toHaveLength(1)
    const again = readAll(first.session.resume())
    await sayLast(first)
    expect(said(await again)).toEqual(['assistant: Done.'])
  })

  it('D15a after the grace bodies get their signal, and no result is written', async () => {
    const write = heldTool('Write', { obedient: true, recover: () => 'again' })
    const { begin, records } = lives([write.tool], { canUseTool: allowAllTools })
    const first = await begin()
    const seen = readAll(first.session.send('go'))
    await replyWith(first, ['w', 'Write'])
    await until(() => write.started.length === 1)
    const { signal } = write.run('w').context.abortController
    await first.session.suspend()
    await seen
    expect(signal.reason).toBe('suspend')
    expect((await records()).map(({ t }) => t)).not.toContain('call.completed')
    expect((await records()).at(-1)?.t).toBe('run.suspended')
    const again = readAll(first.session.resume())
    await until(() => write.started.length === 2)
    write.run('w').finish()
    await sayLast(first)
    await again
    expect(said(first.session.transcript).slice(-2)).toEqual(['user: result w w done', 'assistant: Done.'])
  })

  it('D15a S8 a message that no reply has answered is replayed once after a suspension', async () => {
    const { begin } = lives([], { canUseTool: allowAllTools })
    const { session, held } = await begin()
    session.send('go')
    await until(() => held.requests.length === 1)
    await session.suspend()
    session.resume()
    await until(() => held.requests.length === 2)
    held.start()
    held.text('Done.')
    held.end()
    await session.whenIdle()
    const replayed = session.messages()
    await session.close()
    expect(said(await readAll(replayed))).toEqual(['user: go', 'assistant: Done.'])
  })

  it('D15a a session that is closed keeps its run for the next process', async () => {
    const { begin } = lives([], { canUseTool: allowAllTools })
    const first = await begin()
    const seen = readAll(first.session.send('go'))
    await startReply(first)
    await settle()
    await first.session.close()
    await seen
    const second = await begin()
    expect(second.session.status).toBe('suspended')
    const again = readAll(second.session.resume())
    await sayLast(second)
    await again
    expect(said(second.session.transcript)).toEqual(['user: go', 'assistant: Done.'])
  })
})

describe('the context of a session', () => {
  it('D14 keys that are named survive, and a modifier that changes another key warns', async () => {
    const move = heldTool('Move')
    const { begin } = lives([move.tool], { canUseTool: allowAllTools, contextKeys: ['cwd'], context: { cwd: '/a' } })
    const first = await begin()
    const warnings: unknown[] = []
    first.session.on('run_started', ({ run }) => run.on('warning', (warning) => warnings.push(warning)))
    first.session.send('go')
    await replyWith(first, ['m', 'Move'])
    await until(() => move.started.length === 1)
    move.run('m').finish({ contextModifier: (context) => ({ ...context, cwd: '/b', other: 1 }) })
    await until(() => first.held.requests.length === 2)
    expect(warnings).toMatchObject([
      { code: 'context_not_durable', toolUseID: 'm', message: expect.stringContaining('changed other,') },
    ])
    const second = await begin()
    expect(second.session.context).toMatchObject({ cwd: '/b' })
    expect(second.session.context).not.toHaveProperty('other')
  })

  const circular: { self?: unknown } = {}
  circular.self = circular

  it.each([
    ['a Map', new Map([[1, 2]]), true],
    ['a Date', new Date(0), true],
    ['a bigint', 1n, true],
    ['NaN inside a list', [1, Number.NaN], true],
    ['an instance of a class', new (class Place {})(), true],
    ['a circular object', circular, true],
    ['plain data', { path: ['/b', null, 1.5, true], more: { none: undefined } }, false],
    ['nothing', undefined, false],
  ])('D14 a modifier that sets a kept key to %s', async (_, cwd, warns) => {
    const move = heldTool('Move')
    const { begin } = lives([move.tool], { canUseTool: allowAllTools, contextKeys: ['cwd'], context: { cwd: '/a' } })
    const { session, ...life } = await begin()
    const warnings: unknown[] = []
    session.on('run_started', ({ run }) => run.on('warning', (warning) => warnings.push(warning)))
    session.send('go')
    await replyWith({ session, ...life }, ['m', 'Move'])
    await until(() => move.started.length === 1)
    move.run('m').finish({ contextModifier: (context) => ({ ...context, cwd }) })
    await until(() => life.held.requests.length === 2)
    const message = expect.stringContaining('changed cwd to a value that JSON cannot express')
    expect(warnings).toMatchObject(warns ? [{ code: 'context_not_durable', message }] : [])
    await session.close()
  })

  it('D14 S6 a fork has a log of its own, with conversation, rules and context', async () => {
    const { begin, journals } = lives([], {
      canUseTool: allowAllTools,
      contextKeys: ['cwd'],
      context: { cwd: '/a', permissions: { allow: ['Read'] } },
    })
    const first = await begin()
    const seen = readAll(first.session.send('go'))
    await sayLast(first)
    await seen
    const fork = await first.session.fork({ id: 'other' })
    expect(fork.transcript).toEqual(first.session.transcript)
    await fork.close()
    const records: unknown[] = []
    for await (const record of journals.read('other')) records.push(record)
    expect(records[0]).toMatchObject({ t: 'session.created', context: { cwd: '/a' }, rules: { allow: ['Read'] } })
  })
})
