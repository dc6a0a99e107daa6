import { foldJournal, type JournalRecord } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  allowAllTools,
  type Message,
  type ModelRetryMessage,
  type QueryMessage,
  type SessionView,
  toApiMessages,
} from '../../src/index.ts'
import { lives, readAll, replyWith, said, sayLast, settle, startReply, until } from '../support/durable-lives.ts'
import { heldTool } from '../support/held-tool.ts'

describe('a session after a crash', () => {
  it('D1 D7 a finished run is in the transcript, and nothing runs until the next message', async () => {
    const { begin, records } = lives([], { canUseTool: allowAllTools })
    const first = await begin()
    const seen = readAll(first.session.send('hello'))
    await settle()
    await sayLast(first, 'hi')
    expect(said(await seen)).toEqual(['user: hello', 'assistant: hi'])
    const second = await begin()
    expect(second.session.status).toBe('idle')
    expect(second.session.transcript).toEqual(first.session.transcript)
    expect(second.held.requests).toHaveLength(0)
    expect(foldJournal((await records()) as unknown as JournalRecord[]).transcript).toEqual(first.session.transcript)
    const more = readAll(second.session.send('more'))
    await settle()
    await sayLast(second, 'yes')
    expect(said(await more)).toEqual(['user: more', 'assistant: yes'])
    expect(said(second.session.transcript)).toEqual(['user: hello', 'assistant: hi', 'user: more', 'assistant: yes'])
  })

  it('D11 a message that was sent is answered after a crash', async () => {
    const { begin } = lives([], { canUseTool: allowAllTools })
    const first = await begin()
    first.session.send('hello')
    await settle()
    expect(first.held.requests).toHaveLength(1)
    const second = await begin()
    expect(second.session.status).toBe('suspended')
    const seen = readAll(second.session.resume())
    await settle()
    await sayLast(second, 'hi')
    expect(said(await seen)).toEqual(['user: hello', 'assistant: hi'])
    expect(said(second.session.transcript)).toEqual(['user: hello', 'assistant: hi'])
  })

  it('D5 D11 D13 a completed call keeps its result, byte for byte, even if its tool is gone', async () => {
    const a = heldTool('Write')
    const b = heldTool('Slow')
    const { begin } = lives([a.tool, b.tool], { canUseTool: allowAllTools })
    const first = await begin()
    const seen = first.session.messages()
    const got: unknown[] = []
    void (async () => {
      for await (const message of seen) got.push(message)
    })()
    first.session.send('go')
    await settle()
    await replyWith(first, ['a', 'Write'], ['b', 'Slow'])
    a.run('a').finish({ data: 'wrote' })
    await settle()
    expect(b.started).toEqual(['b'])
    const result = got.find((message) => JSON.stringify(message).includes('wrote'))
    const second = await begin({ tools: [b.tool] })
    const again = readAll(second.session.resume())
    await settle()
    await sayLast(second)
    const messages = await again
    expect(messages.find((message) => JSON.stringify(message).includes('wrote'))).toEqual(result)
    expect(a.started).toEqual(['a'])
    expect(b.started).toEqual(['b'])
    expect(said(second.session.transcript)).toEqual([
      'user: go',
      'assistant: call a Write {}',
      'assistant: call b Slow {}',
      'user: result a wrote',
      'user: result b error',
      'assistant: Done.',
    ])
    expect(JSON.stringify(second.session.transcript)).toContain('It may or may not have taken effect')
  })

  it('D11 D13 a completed call consults no hook, rule, schema or tool, and its turn is yielded with the same uuids', async () => {
    const [write, slow] = [heldTool('Write'), heldTool('Slow')]
    const { begin } = lives([write.tool, slow.tool], { canUseTool: allowAllTools })
    const first = await begin()
    const got: QueryMessage[] = []
    void (async () => {
      for await (const message of first.session.messages()) got.push(message)
    })()
    first.session.send('go')
    await replyWith(first, ['a', 'Write'], ['b', 'Slow'])
    write.run('a').finish({ data: 'wrote' })
    await until(() => slow.started.length === 1)
    const consulted: string[] = []
    const note = (what: string) => (): never => {
      consulted.push(what)
      throw new Error(what)
    }
    const changed = {
      ...write.tool,
      inputSchema: z.looseObject({}).refine(note('schema')),
      isReadOnly: note('isReadOnly'),
      isConcurrencySafe: note('isConcurrencySafe'),
      checkPermissions: note('checkPermissions'),
      recover: note('recover'),
      call: note('call'),
    }
    const hook = async ({ tool_use_id }: { tool_use_id?: string | undefined }): Promise<void> => {
      if (tool_use_id === 'a') consulted.push('hook')
    }
    const hooks = { PreToolUse: [{ hooks: [hook] }], PostToolUse: [{ hooks: [hook] }] }
    const second = await begin({
      tools: [changed as never, slow.tool],
      canUseTool: ({ name }) => (name === 'Write' ? note('canUseTool')() : { behavior: 'allow' }),
      context: { hooks, permissions: { deny: ['Write'] } } as never,
    })
    const again = readAll(second.session.resume())
    await sayLast(second)
    const messages = await again
    expect(consulted).toEqual([])
    const half = got.filter(({ type }) => type === 'assistant' || type === 'user').slice(1)
    expect(half).toHaveLength(3)
    expect(messages).toEqual(expect.arrayContaining(half))
  })

  it('D11 a call that runs again has its id and the input that was recorded: no hook and nobody is asked', async () => {
    const consulted: string[] = []
    const hook = async () => {
      consulted.push('hook')
      return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { n: 2 } } }
    }
    const pay = heldTool('Pay', { recover: () => 'again' })
    const { begin, written } = lives([pay.tool], {
      canUseTool: () => {
        consulted.push('host')
        return { behavior: 'allow', updatedInput: { n: 3 } }
      },
      context: { hooks: { PreToolUse: [{ hooks: [hook] }] } } as never,
    })
    const first = await begin()
    first.session.send('go')
    const { held } = await startReply(first)
    held.call('p', 'Pay', { n: 1 })
    held.end('tool_use')
    await written('call.started')
    await until(() => pay.started.length === 1)
    expect(consulted.splice(0)).toEqual(['hook', 'host'])
    const second = await begin()
    second.session.resume()
    await until(() => pay.started.length === 2)
    expect([pay.started, pay.run('p').input, consulted]).toEqual([['p', 'p'], { n: 3 }, []])
  })

  it('D11 of a reply that was cut off after an effect, a call that was allowed and had not started did not run', async () => {
    const [write, pay] = [heldTool('Write', { startWhen: 'closed', safe: true }), heldTool('Pay', { safe: true })]
    const { begin, written } = lives([write.tool, pay.tool], {
      canUseTool: ({ name }) => ({ behavior: name === 'Write' ? 'allow' : 'later' }),
      executor: { maxConcurrency: 1 },
    })
    const first = await begin()
    first.session.send('go')
    const { held } = await startReply(first)
    held.call('p', 'Pay')
    await until(() => first.session.questions().length === 1)
    held.call('w', 'Write')
    await until(() => write.started.length === 1)
    await first.session.answer(first.session.questions()[0]?.id as string, { behavior: 'allow' })
    await written('permission.answered', 2)
    expect(pay.started).toEqual([])
    const second = await begin()
    const again = readAll(second.session.resume())
    await sayLast(second)
    await again
    expect([write.started, pay.started]).toEqual([['w'], []])
    expect(JSON.stringify(second.session.transcript)).toContain('This call did not run')
  })

  it.each([
    ['again', 'b done'],
    ['unknown', 'error'],
    ['data', 'found'],
    ['throws', 'error'],
  ] as const)('D11 D12 a call that was running: its tool says %s', async (verdict, outcome) => {
    const b = heldTool('Slow', {
      recover: (input) => {
        expect(input).toEqual({})
        if (verdict === 'throws') throw new Error('no idea')
        return verdict === 'data' ? { data: 'found' } : verdict
      },
    })
    const { begin } = lives([b.tool], { canUseTool: allowAllTools })
    const first = await begin()
    first.session.send('go')
    await settle()
    await replyWith(first, ['b', 'Slow'])
    expect(b.started).toEqual(['b'])
    const second = await begin()
    const again = readAll(second.session.resume())
    await settle()
    expect(b.started).toEqual(verdict === 'again' ? ['b', 'b'] : ['b'])
    if (verdict === 'again') b.run('b').finish()
    await settle()
    await sayLast(second)
    await again
    expect(said(second.session.transcript)).toEqual([
      'user: go',
      'assistant: call b Slow {}',
      `user: result b ${outcome}`,
      'assistant: Done.',
    ])
  })

  it('D4 D11 a read-only call runs again, and nothing was recorded before its body began', async () => {
    const b = heldTool('Read', { isReadOnly: () => true })
    const { begin, records, written } = lives([b.tool], { canUseTool: allowAllTools })
    const first = await begin()
    first.session.send('go')
    await settle()
    await replyWith(first, ['b', 'Read'])
    await written('reply.stopped')
    expect(b.started).toEqual(['b'])
    expect((await records()).map(({ t }) => t)).not.toContain('call.started')
    const second = await begin()
    second.session.resume()
    await settle()
    expect(b.started).toEqual(['b', 'b'])
  })

  it('D11 a call that had started runs again if today’s tool only reads, and has no recover', async () => {
    const [before, now] = [heldTool('Look'), heldTool('Look', { isReadOnly: () => true })]
    const { begin, written } = lives([before.tool], { canUseTool: allowAllTools })
    const first = await begin()
    first.session.send('go')
    await replyWith(first, ['b', 'Look'])
    await written('call.started')
    const second = await begin({ tools: [now.tool] })
    second.session.resume()
    await until(() => now.started.length === 1)
    expect([before.started, now.started]).toEqual([['b'], ['b']])
  })

  it('D11 a reply that was cut off is discarded if nothing with effects had started', async () => {
    const b = heldTool('Read', { isReadOnly: () => true, safe: true })
    const { begin, records } = lives([b.tool], { canUseTool: allowAllTools })
    const first = await begin()
    first.session.send('go')
    await settle()
    await startReply(first)
    first.held.call('b', 'Read')
    await settle()
    b.run('b').finish()
    await settle()
    const second = await begin()
    const again = readAll(second.session.resume())
    await settle()
    expect((await records()).map(({ t }) => t)).toContain('attempt.discarded')
    await sayLast(second)
    await again
    expect(said(second.session.transcript)).toEqual(['user: go', 'assistant: Done.'])
  })

  it.each([
    'a crash',
    'close',
    'suspend',
  ])('S8 D11 after %s, the host is told which messages of a discarded reply have to go', async (how) => {
    const read = heldTool('Read', { isReadOnly: () => true, safe: true })
    const world = lives([read.tool], { canUseTool: allowAllTools })
    const first = await world.begin()
    const shown: QueryMessage[] = []
    const show = async (view: SessionView): Promise<void> => {
      for await (const message of view) shown.push(message)
    }
    void show(first.session.send('go'))
    const { held } = await startReply(first)
    held.text('I look')
    held.call('r', 'Read')
    await until(() => read.started.length === 1)
    read.run('r').finish()
    await until(() => shown.length === 4)
    if (how !== 'a crash') await first.session[how as 'close' | 'suspend']()
    const second = how === 'suspend' ? first : await world.begin()
    const again = show(second.session.resume())
    await sayLast(second)
    await again
    const retry = shown.find(({ type }) => type === 'system') as ModelRetryMessage
    const why = { subtype: 'model_retry', errorKind: 'stopped', delayMs: 0, isFallback: false }
    const calls = [{ id: 'r', name: 'Read', started: true, completed: true }]
    expect(retry).toMatchObject({ ...why, calls, discarded: shown.slice(1, 4).map(({ uuid }) => uuid) })
    expect(said(shown.filter(({ uuid }) => !retry.discarded.includes(uuid)))).toEqual(['user: go', 'assistant: Done.'])
    expect(toApiMessages(shown as Message[])).toEqual(toApiMessages(second.session.transcript))
    const [record] = (await world.records()).filter(({ t }) => t === 'attempt.discarded')
    expect(record).toMatchObject({ calls, reports: [{ uuid: retry.uuid }] })
  })

  it('D11 a reply that was cut off after an effect counts: what completed stays, what had not started did not run', async () => {
    const b = heldTool('Write', { startWhen: 'closed' })
    const c = heldTool('Other')
    const { begin, written } = lives([b.tool, c.tool], { canUseTool: allowAllTools })
    const first = await begin()
    first.session.send('go')
    await settle()
    await startReply(first)
    first.held.call('b', 'Write')
    await settle()
    b.run('b').finish()
    await settle()
    first.held.call('c', 'Other')
    await written('reply.block', 2)
    const second = await begin()
    const again = readAll(second.session.resume())
    await settle()
    await sayLast(second)
    await again
    expect(c.started).toEqual([])
    expect(said(second.session.transcript)).toEqual([
      'user: go',
      'assistant: call b Write {}',
      'assistant: call c Other {}',
      'user: result b b done',
      'user: result c error',
      'assistant: Done.',
    ])
    expect(JSON.stringify(second.session.transcript)).toContain('This call did not run')
  })
})
