import { foldJournal, type JournalRecord } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { allowAllTools } from '../../src/index.ts'
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
