import { describe, expect, it } from 'vitest'
import {
  allowAllTools,
  createSession,
  type QueryMessage,
  query,
  type SessionOptions,
  type SessionView,
} from '../../../src/index.ts'
import { scriptedModel } from '../../../src/query/scripted/index.ts'
import { checkTranscript } from '../../../src/transcripts/index.ts'
import { heldModel } from '../../support/held-model.ts'
import { heldTool } from '../../support/held-tool.ts'
import { apiInShort, inShort } from '../../support/query.ts'
import { flush } from '../../support/turn.ts'

function setUp(options: Partial<SessionOptions> = {}) {
  const held = heldModel()
  const read = heldTool('Read', { safe: true, obedient: true })
  const session = createSession({ tools: [read.tool], model: held.model, canUseTool: allowAllTools, ...options })
  const say = async (text: string): Promise<void> => {
    held.start()
    held.text(text)
    held.end()
    await flush()
  }
  const callRead = async (id = 'a'): Promise<void> => {
    held.start()
    held.call(id, 'Read')
    held.end('tool_use')
    await flush()
  }
  return { held, read, session, say, callRead }
}

async function readAll(view: SessionView): Promise<QueryMessage[]> {
  const seen: QueryMessage[] = []
  for await (const message of view) seen.push(message)
  return seen
}

const said = (messages: readonly QueryMessage[]): string[] =>
  inShort(messages.filter((message) => message.type === 'assistant' || message.type === 'user'))

describe('a session', () => {
  it('S1 keeps the transcript from one prompt to the next', async () => {
    const { held, session, say } = setUp()
    const first = readAll(session.send('one'))
    await flush()
    await say('first')
    expect(said(await first)).toEqual(['user: one', 'assistant: first'])
    expect(session.status).toBe('idle')
    const second = readAll(session.send('two'))
    await flush()
    await say('second')
    expect(said(await second)).toEqual(['user: two', 'assistant: second'])
    expect(apiInShort(held.requests[1]?.messages ?? [])).toEqual(['user: one', 'assistant: first', 'user: two'])
    expect(session.result).toMatchObject({ reason: 'completed' })
  })

  it('reports each run to listeners before its first executor', async () => {
    const { session, say } = setUp()
    const seen: string[] = []
    session.on('run_started', ({ run }) => {
      seen.push('run')
      run.onExecutor(() => seen.push('executor'))
    })
    session.send('one')
    await flush()
    await say('first')
    expect(seen).toEqual(['run', 'executor'])
  })

  it('S1 S7 keeps what context modifiers changed, and the rules of the context', async () => {
    const { read, session, say, callRead } = setUp({ context: { cwd: '/a', permissions: { allow: ['Read'] } } })
    session.send('move')
    await flush()
    await callRead()
    read.run('a').finish({ contextModifier: (context) => ({ ...context, cwd: '/b' }) })
    await flush()
    await say('moved')
    expect(session.context).toMatchObject({ cwd: '/b', permissions: { allow: ['Read'] } })
    session.send('where?')
    await flush()
    await callRead('b')
    expect(read.run('b').context).toMatchObject({ cwd: '/b' })
  })

  it('S2 goes on though nobody reads, and though a reader leaves', async () => {
    const { held, session, say } = setUp()
    for await (const message of session.send('one')) {
      expect(message.type).toBe('user')
      break
    }
    await flush()
    await say('answer')
    expect(inShort(session.transcript)).toEqual(['user: one', 'assistant: answer'])
    expect(held.requests).toHaveLength(1)
  })

  it('S2 hands a message to the active run at its next turn; its view begins with that message', async () => {
    const { held, read, session, say, callRead } = setUp()
    const first = readAll(session.send('one'))
    await flush()
    await callRead()
    const second = readAll(session.send('and this'))
    read.run('a').finish({ data: 'text' })
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? []).at(-1)).toBe('user: and this')
    await say('both')
    expect(said(await first)).toEqual([
      'user: one',
      'assistant: call a Read {}',
      'user: result a text',
      'user: and this',
      'assistant: both',
    ])
    expect(said(await second)).toEqual(['user: and this', 'assistant: both'])
  })

  it('S2 a message sent while a run is ending starts the next run', async () => {
    const { held, session, say } = setUp()
    session.on('run_ended', () => {
      if (held.requests.length === 1) session.send('late')
    })
    session.send('one')
    await flush()
    await say('first')
    expect(apiInShort(held.requests[1]?.messages ?? []).at(-1)).toBe('user: late')
    await say('second')
    expect(inShort(session.transcript)).toEqual(['user: one', 'assistant: first', 'user: late', 'assistant: second'])
  })

  it('S2 a message for which maxTurns left no turn is answered by the next run, and its view sees the answer', async () => {
    const { held, read, session, say, callRead } = setUp({ maxTurns: 1 })
    session.send('one')
    await flush()
    await callRead()
    const view = readAll(session.send('go on'))
    read.run('a').finish()
    await flush()
    expect(held.requests).toHaveLength(2)
    expect(apiInShort(held.requests[1]?.messages ?? []).filter((line) => line === 'user: go on')).toHaveLength(1)
    await say('done')
    expect(said(await view)).toEqual(['user: go on', 'assistant: done'])
  })

  it('S2 a view that waits for the model ends with a run that ends without another message', async () => {
    const { held, session } = setUp()
    let seen: QueryMessage[] | undefined
    void readAll(session.send('one')).then((all) => {
      seen = all
    })
    await flush()
    expect(seen).toBeUndefined()
    held.fail(Object.assign(new Error('no'), { status: 400 }))
    await flush()
    expect(session.result).toMatchObject({ reason: 'model_error' })
    expect(said(seen ?? [])).toEqual(['user: one'])
  })

  it('S2 abort ends the active run alone: the next prompt works', async () => {
    const { read, session, say, callRead } = setUp()
    const view = readAll(session.send('one'))
    await flush()
    await callRead()
    session.abort('stop')
    await view
    expect(read.run('a').context.abortController.signal.aborted).toBe(true)
    expect(session.result).toMatchObject({ reason: 'aborted_tools' })
    expect(checkTranscript(session.transcript).ok).toBe(true)
    session.send('again')
    await flush()
    await say('fine')
    expect(session.result).toMatchObject({ reason: 'completed' })
  })

  it('S2 an abort of the host’s own controller ends this run and every later one', async () => {
    const abortController = new AbortController()
    const { held, session } = setUp({ context: { abortController } })
    session.send('one')
    await flush()
    abortController.abort('gone')
    await session.whenIdle()
    expect(session.result).toMatchObject({ reason: 'aborted_streaming', abortReason: 'gone' })
    session.send('two')
    await session.whenIdle()
    expect(held.requests).toHaveLength(1)
    expect(session.result).toMatchObject({ abortReason: 'gone' })
  })

  it('S2 interrupt with a message stops the reply and goes on with the message', async () => {
    const { held, session, say } = setUp()
    session.send('one')
    await flush()
    held.start()
    held.text('a long')
    await flush()
    const view = readAll(session.send('rather this', { interrupt: true }))
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? []).at(-1)).toBe('user: rather this')
    await say('well')
    expect(said(await view)).toEqual(['user: rather this', 'assistant: well'])
  })

  it('S2 an interrupt of an idle session with a message just sends it', async () => {
    const { held, session } = setUp()
    session.interrupt()
    session.interrupt('hello')
    await flush()
    expect(held.requests).toHaveLength(1)
  })

  it('S6 a fork has the conversation up to a message with the rest of its turn, and the context of then', async () => {
    const { held, read, session, say, callRead } = setUp({ context: { cwd: '/a' } })
    session.send('move')
    await flush()
    held.start('msg_a')
    held.text('ok')
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    read.run('a').finish({ data: 'text', contextModifier: (context) => ({ ...context, cwd: '/b' }) })
    await flush()
    await say('moved')
    session.send('again')
    await flush()
    await callRead('b')
    read.run('b').finish({ data: 'text', contextModifier: (context) => ({ ...context, cwd: '/c' }) })
    await flush()
    await say('twice')
    const ok = session.transcript.find(({ type }) => type === 'assistant')
    const early = await session.fork({ at: ok?.uuid, id: 'early' })
    expect(early.id).toBe('early')
    expect(inShort(early.transcript)).toEqual([
      'user: move',
      'assistant: ok',
      'assistant: call a Read {}',
      'user: result a text',
    ])
    expect(checkTranscript(early.transcript).ok).toBe(true)
    expect(early.context).toMatchObject({ cwd: '/b' })
    const late = await session.fork()
    expect(late.context).toMatchObject({ cwd: '/c' })
    late.send('and now')
    await flush()
    expect(held.requests.at(-1)?.messages).toHaveLength(9)
    expect(inShort(session.transcript)).toHaveLength(9)
    await expect(session.fork({ at: 'nobody' })).rejects.toMatchObject({ code: 'invalid_option' })
  })

  it('S6 usage totals requests, tokens, calls and cost per model', async () => {
    const { held, session } = setUp({ prices: { held: { input: 2, output: 10 } } })
    for (const text of ['one', 'two']) {
      session.send(text)
      await flush()
      held.start()
      held.text('answer')
      held.send(
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
          usage: { input_tokens: 1_000, output_tokens: 100 },
        },
        { type: 'message_stop' },
      )
      held.cut()
      await flush()
    }
    expect(session.usage).toEqual({
      models: {
        held: {
          requests: 2,
          retries: 0,
          inputTokens: 2_000,
          outputTokens: 200,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
          costUsd: 0.006,
        },
      },
      costUsd: 0.006,
      turns: 2,
      retries: 0,
      calls: 0,
      agents: 0,
      modelMs: expect.any(Number),
      toolMs: 0,
    })
  })

  it('S8 replays what came after a message, the turn in progress included, and goes on live', async () => {
    const { read, session, say, callRead } = setUp()
    session.send('one')
    await flush()
    await say('first')
    const [, last] = session.transcript
    session.send('two')
    await flush()
    await callRead()
    read.run('a').progress('half')
    await flush()
    const missed = session.messages({ after: last?.uuid })
    const types = []
    for (let count = 0; count < 5; count++) types.push((await missed.next()).value?.type)
    expect(types).toEqual(['system', 'user', 'assistant', 'system', 'progress'])
    const live = missed.next()
    read.run('a').finish({ data: 'text' })
    expect((await live).value).toMatchObject({ type: 'user' })
    await flush()
    await say('second')
    const everything = session.messages()
    await session.close()
    expect(said(await readAll(everything))).toEqual([
      'user: one',
      'assistant: first',
      'user: two',
      'assistant: call a Read {}',
      'user: result a text',
      'assistant: second',
    ])
  })

  it('S8 a reader that comes back with a progress message that is no longer kept misses nothing and repeats nothing', async () => {
    const { read, session, say, callRead } = setUp()
    session.send('one')
    await flush()
    await callRead()
    read.run('a').progress('half')
    await flush()
    let progress = ''
    for await (const message of session.messages()) {
      if (message.type === 'progress') progress = message.uuid
      if (progress !== '') break
    }
    read.run('a').finish({ data: 'text' })
    await flush()
    await say('done')
    const [rest, everything] = [session.messages({ after: progress }), session.messages()]
    await session.close()
    expect((await readAll(everything)).map(({ type }) => type)).not.toContain('progress')
    expect(said(await readAll(rest))).toEqual(['user: result a text', 'assistant: done'])
  })

  it('S2 close ends the run and every view, and nothing can be sent any more', async () => {
    const { held, session } = setUp()
    const view = readAll(session.send('one'))
    const all = readAll(session.messages())
    await flush()
    held.start()
    await session[Symbol.asyncDispose]()
    await Promise.all([view, all])
    expect(session.status).toBe('closed')
    expect(session.result).toMatchObject({ reason: 'aborted_streaming', abortReason: 'session_closed' })
    expect(() => session.send('two')).toThrow('closed')
    await session.close()
  })

  it('S2 a run that cannot begin ends with its error, and the session stays usable', async () => {
    let isBroken = true
    const { held, session, say } = setUp({
      tools: () => {
        if (isBroken) throw new Error('no tools')
        return []
      },
    })
    const view = readAll(session.send('one'))
    expect(said(await view)).toEqual(['user: one'])
    expect(session.result).toMatchObject({ reason: 'model_error', error: { message: 'no tools' } })
    isBroken = false
    session.send('two')
    await flush()
    await say('fine')
    expect(apiInShort(held.requests[0]?.messages ?? [])).toEqual(['user: one', 'user: two'])
  })

  it('S3 refuses an event that does not exist, as a query and an executor do', () => {
    const session = createSession({ tools: [], model: scriptedModel([]) })
    const run = query({ messages: 'go', tools: [], model: scriptedModel([]) })
    const names = `'run_started', 'question_opened', 'question_closed', 'background_finished' or 'run_ended'`
    const on = (target: object) => (target as { on(type: string, listener: unknown): unknown }).on.bind(target)
    expect(() => on(session)('question_open', () => undefined)).toThrow(
      `event: expected ${names}, received "question_open".`,
    )
    expect(() => on(session)('run_ended', undefined)).toThrow(
      'listener of run_ended: expected a function, received undefined.',
    )
    for (const target of [run, run.executor]) {
      expect(() => on(target)('tool_use_sucess', () => undefined)).toThrow(
        /^event: expected 'warning', .*'tool_use_success'/,
      )
    }
  })

  it('S2 refuses options that a query would refuse, and a bad id', () => {
    expect(() => setUp({ maxTurns: 0 })).toThrow('maxTurns')
    expect(() => setUp({ id: '' })).toThrow('id')
    expect(() => createSession({ tools: [], model: heldModel().model, nonsense: 1 } as never)).toThrow(
      /Unknown option nonsense.*: id, messages, .* prices\./,
    )
    expect(() => setUp().session.send(5 as never)).toThrow('a string, content blocks or a user message')
  })
})
