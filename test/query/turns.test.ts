import { describe, expect, it } from 'vitest'
import { query } from '../../src/index.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'
import { apiInShort, inShort, testQuery } from '../support/query.ts'
import { flush } from '../support/turn.ts'

const tools = () => {
  const read = heldTool('Read', { safe: true })
  const write = heldTool('Write')
  return { read, write, all: [read.tool, write.tool] }
}

describe('a query', () => {
  it('L1 L4 asks the model, runs its calls, returns the results, and ends when the model makes no more calls', async () => {
    const { read, all } = tools()
    const { held, run, result, seen } = testQuery(all, { system: 'be brief' })
    await flush()
    expect(held.requests).toHaveLength(1)
    expect(held.requests[0]).toMatchObject({ system: 'be brief', messages: [{ role: 'user' }] })
    expect(held.requests[0]?.tools.map(({ name }) => name)).toEqual(['Read', 'Write'])
    expect(held.requests[0]).not.toHaveProperty('container')
    held.start()
    held.text('let me see')
    held.call('a', 'Read', { path: 'x' })
    held.end('tool_use')
    await flush()
    read.run('a').finish({ data: 'text of x' })
    await flush()
    expect(held.requests).toHaveLength(2)
    expect(run.actor.getSnapshot().context.transition).toEqual({ reason: 'next_turn' })
    expect(apiInShort(held.requests[1]?.messages ?? [])).toEqual([
      'user: go',
      'assistant: let me see',
      'assistant: call a Read {"path":"x"}',
      'user: result a text of x',
    ])
    held.start()
    held.text('done')
    held.end()
    expect(await result).toMatchObject({ reason: 'completed', stopReason: 'end_turn' })
    expect(inShort(run.transcript).at(-1)).toBe('assistant: done')
    expect(seen.map((message) => message.type)).toEqual([
      'assistant',
      'assistant',
      'system',
      'user',
      'assistant',
      'system',
    ])
  })

  it('Y7 L4 S7 its context is the one that its calls have made of it', async () => {
    const { write, all } = tools()
    const { held, run } = testQuery(all, { context: { cwd: '/a' } })
    expect(run.context).toMatchObject({ cwd: '/a' })
    await flush()
    held.start()
    held.call('a', 'Write')
    held.end('tool_use')
    await flush()
    write.run('a').finish({ contextModifier: (context) => ({ ...context, cwd: '/b' }) })
    await flush()
    expect(run.context).toMatchObject({ cwd: '/b' })
    run.abort('enough')
  })

  it('L1 nothing starts before the first read', async () => {
    const held = heldModel()
    const run = query({ messages: 'go', tools: [], model: held.model })
    await flush()
    expect(held.requests).toEqual([])
    expect(await run.return()).toMatchObject({ done: true, value: { reason: 'aborted_streaming' } })
    expect(held.requests).toEqual([])
  })

  it('L3 messages are yielded while the model still streams', async () => {
    const { read, all } = tools()
    const { held, seen, run, result } = testQuery(all)
    await flush()
    held.start()
    held.call('a', 'Read')
    await flush()
    read.run('a').progress('half')
    read.run('a').finish({ data: 'A' })
    await flush()
    expect(seen.map(({ type }) => type)).toEqual(['assistant', 'progress', 'user'])
    held.text('more')
    held.end('tool_use')
    await flush()
    held.start()
    held.end()
    await result
    // one reply, whatever came between its parts
    expect(inShort(run.transcript)).toEqual([
      'user: go',
      'assistant: call a Read {}',
      'assistant: more',
      'user: result a A',
    ])
    expect(inShort(seen as never)).toEqual(['assistant: call a Read {}', 'assistant: more', 'user: result a A'])
  })

  it('L4 results are sent back in emission order, before attachments', async () => {
    const { read, all } = tools()
    const { held } = testQuery(all)
    await flush()
    held.start()
    held.call('a', 'Read')
    held.call('b', 'Read')
    held.end('tool_use')
    await flush()
    read.run('b').finish({ data: 'B', structuredOutput: { b: 1 } })
    read.run('a').finish({ data: 'A', structuredOutput: { a: 1 } })
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? []).slice(3)).toEqual([
      'user: result a A',
      'user: result b B',
      'user: <structured_output>\n{"data":{"a":1}}\n</structured_output>',
      'user: <structured_output>\n{"data":{"b":1}}\n</structured_output>',
    ])
  })

  it('L4 context modifiers reach the next turn', async () => {
    const { read, all } = tools()
    const { held } = testQuery(all, { context: { seen: 0 } })
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    read.run('a').finish({ contextModifier: (context) => ({ ...context, seen: 1 }) })
    await flush()
    held.start()
    held.call('b', 'Read')
    await flush()
    expect(read.run('b').context.seen).toBe(1)
  })

  it('L7 maxTurns ends it with every call answered', async () => {
    const { read, all } = tools()
    const { held, result, run } = testQuery(all, { maxTurns: 1 })
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    read.run('a').finish({ data: 'A' })
    expect(await result).toMatchObject({ reason: 'max_turns', stopReason: 'tool_use' })
    expect(inShort(run.transcript).at(-1)).toBe('user: result a A')
  })

  it('L7 a hook with continue false ends it after the turn', async () => {
    const { read, all } = tools()
    const hooks = { PostToolUse: [{ hooks: [async () => ({ continue: false, stopReason: 'enough' })] }] }
    const { held, result } = testQuery(all, { context: { hooks } })
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    read.run('a').finish()
    expect(await result).toMatchObject({ reason: 'hook_stopped' })
    expect(held.requests).toHaveLength(1)
  })

  it('L4 after pause_turn the model continues', async () => {
    const { held, result } = testQuery([])
    await flush()
    held.start()
    held.text('thinking')
    held.end('pause_turn')
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? [])).toEqual(['user: go', 'assistant: thinking'])
    held.start()
    held.text('done')
    held.end()
    expect(await result).toMatchObject({ reason: 'completed' })
  })

  it('L4 a message that is sent while tools run goes to the model after their results', async () => {
    const { read, all } = tools()
    const { held, run, result, seen } = testQuery(all)
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    expect(run.send('look at y too')).toBe(true)
    read.run('a').finish({ data: 'A' })
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? []).slice(2)).toEqual(['user: result a A', 'user: look at y too'])
    expect(inShort(seen as never)).toContain('user: look at y too')
    run.send('and z')
    held.start()
    held.text('fine')
    held.end()
    await flush()
    expect(apiInShort(held.requests[2]?.messages ?? []).at(-1)).toBe('user: and z')
    held.start()
    held.end()
    await result
    expect(run.send('too late')).toBe(false)
  })

  it('L4 a slow reader makes the model wait, and loses nothing', async () => {
    let sent = 0
    const model = async function* () {
      yield { type: 'message_start', message: { id: 'm' } } as const
      for (let index = 0; index < 5_000; index++) {
        sent++
        yield { type: 'content_block_start', index, content_block: { type: 'text', text: `${index}` } } as const
        yield { type: 'content_block_stop', index } as const
      }
      yield { type: 'message_delta', delta: { stop_reason: 'end_turn' } } as const
    }
    const run = query({ messages: 'go', tools: [], model })
    await run.next()
    await flush()
    expect(sent).toBeLessThan(1_100)
    let count = 1
    for await (const message of run) if (message.type === 'assistant') count++
    expect([count, sent]).toEqual([5_000, 5_000])
  })

  it('L7 result says why it ended, for hosts that only loop, and is undefined before', async () => {
    const { held, run, result } = testQuery([])
    await flush()
    expect(run.result).toBeUndefined()
    held.fail(new Error('invalid key'))
    await result
    expect(run.result).toMatchObject({ reason: 'model_error', error: new Error('invalid key'), stopReason: undefined })
  })

  it('L6 is ended by leaving its `await using` scope', async () => {
    const { held, run, result } = testQuery([])
    await flush()
    held.start()
    await run[Symbol.asyncDispose]()
    expect(await result).toMatchObject({ reason: 'aborted_streaming', abortReason: 'reader_left' })
    expect(run.result).toMatchObject({ reason: 'aborted_streaming' })
  })

  it('L4 accepts a conversation in the form of the API', async () => {
    const { held } = testQuery([], {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'hello' },
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
      ],
    })
    await flush()
    expect(apiInShort(held.requests[0]?.messages ?? [])).toEqual(['user: hi', 'assistant: hello', 'user: go'])
  })

  it('L8 an invalid additional message of a tool does not end the query', async () => {
    const odd = heldTool('Odd')
    const { held, run, result } = testQuery([odd.tool])
    await flush()
    held.start()
    held.call('a', 'Odd')
    held.end('tool_use')
    await flush()
    odd.run('a').finish({ data: 'A', newMessages: [{ type: 'user', uuid: 'u' } as never] })
    await flush()
    held.start()
    held.text('done')
    held.end()
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(inShort(run.transcript)).toEqual([
      'user: go',
      'assistant: call a Odd {}',
      'user: result a A',
      'assistant: done',
    ])
  })

  it('L4 prepareMessages changes what the model sees, and nothing else; one that fails ends the query', async () => {
    const { held, run, result } = testQuery([], {
      prepareMessages: (messages) => messages.slice(-1),
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'three' },
      ],
    })
    await flush()
    expect(apiInShort(held.requests[0]?.messages ?? [])).toEqual(['user: three'])
    held.start()
    held.end()
    await result
    expect(inShort(run.transcript)).toEqual(['user: one', 'assistant: two', 'user: three'])
    const broken = testQuery([], { prepareMessages: async () => Promise.reject(new Error('no')) })
    expect(await broken.result).toMatchObject({ reason: 'model_error', error: new Error('no') })
    const silent = testQuery([], { prepareMessages: (() => undefined) as never })
    const said = { message: expect.stringContaining('prepareMessages: expected an array of messages') }
    expect(await silent.result).toMatchObject({ reason: 'model_error', error: said })
  })

  it.each<[string, object, RegExp]>([
    ['no model', { model: undefined }, /model: expected a function/],
    ['an unknown option', { modle: 1 }, /Unknown option modle/],
    ['odd turns', { maxTurns: 0 }, /maxTurns/],
    [
      'an answer in place of who gives it',
      { canUseTool: 'yes' as never },
      /canUseTool: expected a function, received "yes"/,
    ],
    ['odd retry', { retry: { attempts: -1 } }, /retry.attempts/],
    ['an odd message', { messages: [5] }, /messages\[0\]/],
    ['a message without content', { messages: [{ role: 'user', parts: [] }] }, /\{ role, content \}/],
    ['a message of ours without content', { messages: [{ type: 'user' }] }, /messages\[0\]/],
    ['a message with blocks that are none', { messages: [{ role: 'user', content: [null] }] }, /messages\[0\]/],
    ['a system message', { messages: [{ role: 'system', content: 'be brief' }] }, /option system/],
    ['a result in the form of OpenAI', { messages: [{ role: 'tool', content: 'x' }] }, /\{ role, content \}/],
    ['odd execution', { toolExecution: 'later' }, /toolExecution/],
    ['an odd option for the executor', { executor: { maxConcurrency: 0 } }, /maxConcurrency/],
    ['a bad rule', { context: { permissions: { deny: ['('] } } }, /position 0/],
  ])('L1 rejects %s on creation', (_, options, problem) => {
    const base = { messages: 'go', tools: [], model: heldModel().model }
    expect(() => query({ ...base, ...options } as never)).toThrow(problem)
  })

  it.each([
    [undefined],
    [5],
    [[null]],
    [['text']],
    [{ type: 'user' }],
    [{ type: 'user', message: { content: [{}] } }],
  ])('L6 rejects sending %j, and interrupting with it', (message) => {
    const run = query({ messages: 'go', tools: [], model: heldModel().model })
    const problem = 'message: expected a string, content blocks or a user message'
    expect(() => run.send(message as never)).toThrow(problem)
    if (message !== undefined) expect(() => run.interrupt(message as never)).toThrow(problem)
  })
})
