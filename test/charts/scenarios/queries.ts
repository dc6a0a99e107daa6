import { expect } from 'vitest'
import type { Message, QueryOptions, QueryResult } from '../../../src/index.ts'
import { heldModel } from '../../support/held-model.ts'
import { heldTool } from '../../support/held-tool.ts'
import { apiInShort, inShort, testQuery } from '../../support/query.ts'
import { flush } from '../../support/turn.ts'

const busy = Object.assign(new Error('busy'), { status: 529 })
const wrong = Object.assign(new Error('wrong'), { status: 400 })

/** A query whose end can be read without waiting. */
const parts = (options: Partial<QueryOptions> = {}) => {
  const read = heldTool('Read', { safe: true, cancel: true, obedient: true })
  const block = heldTool('Block', { safe: true })
  const write = heldTool('Write')
  const all = testQuery([read.tool, block.tool, write.tool], options)
  const end: { result?: QueryResult } = {}
  void all.result.then((result) => {
    end.result = result
  })
  return { ...all, read, block, write, end }
}

const asked = async (options: Partial<QueryOptions> = {}) => {
  const query = parts(options)
  await flush()
  query.held.start()
  return query
}

/** The reason and the abort reason, if it has ended. */
const how = ({ end }: { end: { result?: QueryResult } }) => {
  const { reason, ...rest } = end.result ?? { reason: undefined }
  return [reason, ...('abortReason' in rest ? [rest.abortReason] : [])]
}

/** Turns, retries and exits of a query. */
export const queriesScenarios: Record<string, () => Promise<void>> = {
  async 'a query goes on while there are results, and ends when there is nothing more to do'() {
    const query = await asked()
    query.held.call('a', 'Read')
    query.held.call('w', 'Write')
    query.held.end('tool_use')
    await flush()
    query.read.run('a').finish()
    await flush()
    query.write.run('w').finish()
    await flush()
    expect(query.held.requests).toHaveLength(2)
    query.held.start()
    query.held.text('done')
    query.held.end()
    await flush()
    expect([how(query), inShort(query.run.transcript).at(-1)]).toEqual([['completed'], 'assistant: done'])
  },
  async 'a query ends after its last turn, and after a hook that stops it'() {
    const stop = { PostToolUse: [{ hooks: [async () => ({ continue: false })] }] }
    for (const [options, reason] of [
      [{ maxTurns: 1 }, 'max_turns'],
      [{ context: { hooks: stop } }, 'hook_stopped'],
    ] as const) {
      const query = await asked(options)
      query.held.call('a', 'Read')
      query.held.end('tool_use')
      await flush()
      query.read.run('a').finish()
      await flush()
      expect([how(query), query.held.requests.length]).toEqual([[reason], 1])
    }
    const short = await asked({ maxTurns: 1 })
    short.held.end()
    await flush()
    expect(how(short)).toEqual(['completed'])
  },
  async 'a query that is aborted before its start never asks'() {
    const query = parts({ context: { abortController: abortedController() } })
    await flush()
    expect([query.held.requests.length, how(query)]).toEqual([0, ['aborted_streaming', 'early']])
  },
  async 'a query is tried again, then with the other model, then not at all'() {
    for (const fallback of [true, false]) {
      let fallbacks = 0
      const query = parts({
        retry: { attempts: 1, backoffMs: 5 },
        ...(fallback && {
          fallbackModel: () => {
            fallbacks++
            throw wrong
          },
        }),
      })
      await flush()
      query.held.start()
      query.held.text('half')
      query.held.fail(busy)
      await flush()
      expect([how(query), query.held.requests.length]).toEqual([[undefined], 1])
      query.clock.increment(5)
      await flush()
      query.held.fail(busy)
      await flush()
      query.clock.increment(5)
      await flush()
      expect([how(query), query.held.requests.length, fallbacks]).toEqual([['model_error'], 2, fallback ? 1 : 0])
      expect(inShort(query.run.transcript)).toEqual(['user: go'])
    }
  },
  async 'a reply that begins again in its stream takes the place of the first'() {
    const query = await asked()
    query.held.text('first')
    query.held.start('other')
    query.held.text('second')
    query.held.send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'third' } })
    query.held.send({ type: 'content_block_stop', index: 0 })
    query.held.end()
    await flush()
    expect(inShort(query.run.transcript)).not.toContain('assistant: first')
    expect(inShort(query.run.transcript)).toContain('assistant: third')
  },
  async 'a model error waits for the calls that were announced; an abort overtakes it'() {
    for (const reason of [undefined, 'escape']) {
      const query = await asked()
      query.held.call('b', 'Block')
      query.held.call('w', 'Write')
      query.held.fail(wrong)
      await flush()
      expect(how(query)).toEqual([undefined])
      if (reason !== undefined) query.run.abort(reason)
      query.block.run('b').finish()
      await flush()
      expect(how(query)).toEqual(reason === undefined ? ['model_error'] : ['aborted_streaming', 'escape'])
      expect(query.write.started).toEqual([])
    }
  },
  async 'a preparation that fails is an error of the model, and may be aborted'() {
    for (const reason of [undefined, 'escape']) {
      let fail = (): void => undefined
      const query = parts({
        prepareMessages: () =>
          new Promise((_, reject) => {
            fail = () => reject(wrong)
          }),
      })
      await flush()
      if (reason !== undefined) query.run.abort(reason)
      fail()
      await flush()
      expect(how(query)).toEqual(reason === undefined ? ['model_error'] : ['aborted_streaming', 'escape'])
    }
  },
  async 'an abort while streaming pairs every call; a stronger one overtakes an interrupt'() {
    for (const [first, second] of [['escape'], ['interrupt'], ['interrupt', 'escape']] as const) {
      const query = await asked()
      query.held.call('a', 'Read')
      query.held.call('b', 'Block')
      query.held.call('w', 'Write')
      await flush()
      query.run.abort(first)
      await flush()
      expect(query.held.requests[0]?.signal.aborted).toBe(true)
      if (second !== undefined) query.run.abort(second)
      await flush()
      query.block.run('b').finish({ data: 'B' })
      await flush()
      const last = second ?? first
      expect(how(query)).toEqual(['aborted_streaming', last])
      expect(inShort(query.run.transcript).slice(4)).toEqual([
        'user: result a error',
        `user: result b ${last === 'interrupt' ? 'B' : 'error'}`,
        'user: result w error',
        ...(last === 'interrupt' ? [] : ['user: [The user stopped this reply.]']),
      ])
      expect(query.write.started).toEqual([])
    }
  },
  async 'an abort while tools run; a stronger one overtakes an interrupt'() {
    for (const [first, second] of [['escape'], ['interrupt'], ['interrupt', 'escape']] as const) {
      const query = await asked()
      query.held.call('b', 'Block')
      query.held.end('tool_use')
      await flush()
      query.run.abort(first)
      if (second !== undefined) query.run.abort(second)
      await flush()
      expect(how(query)).toEqual([undefined])
      expect(query.block.run('b').context.abortController.signal.aborted).toBe((second ?? first) === 'escape')
      query.block.run('b').finish({ data: 'B' })
      await flush()
      expect(how(query)).toEqual(['aborted_tools', second ?? first])
    }
  },
  async 'an abort in the backoff'() {
    const query = parts()
    await flush()
    query.held.fail(busy)
    await flush()
    query.run.abort('escape')
    await flush()
    expect(how(query)).toEqual(['aborted_streaming', 'escape'])
  },
  async 'a reply that breaks off after something was done counts, and the query goes on'() {
    for (const how of ['again', 'fallback', 'restarted'] as const) {
      const other = heldModel()
      const options = { fallbackModel: other.model, retry: { attempts: how === 'again' ? 1 : 0, backoffMs: 7 } }
      const query = await asked(options)
      query.held.call('b', 'Block')
      query.held.call('w', 'Write')
      await flush()
      if (how === 'restarted') query.held.start('another')
      else query.held.fail(busy)
      await flush()
      expect(query.block.run('b').context.abortController.signal.aborted).toBe(false)
      query.block.run('b').finish({ data: 'B' })
      await flush()
      query.clock.increment(how === 'again' ? 6 : 0)
      await flush()
      expect([query.held.requests.length, other.requests.length]).toEqual(
        { again: [1, 0], fallback: [1, 1], restarted: [2, 0] }[how],
      )
      query.clock.increment(1)
      await flush()
      const last = how === 'fallback' ? other.requests[0] : query.held.requests[1]
      expect(apiInShort(last?.messages ?? []).slice(-2)).toEqual(['user: result b B', 'user: result w error'])
      expect(query.write.started).toEqual([])
    }
  },
  async 'a reply that counts as far as it came is a turn: a hook, the last turn, steering and an abort end it'() {
    const stop = { PostToolUse: [{ hooks: [async () => ({ continue: false })] }] }
    for (const [options, reason] of [
      [{ maxTurns: 1 }, 'max_turns'],
      [{ context: { hooks: stop } }, 'hook_stopped'],
    ] as const) {
      const query = await asked(options)
      query.held.call('b', 'Block')
      await flush()
      query.held.fail(busy)
      await flush()
      query.block.run('b').finish()
      await flush()
      expect(how(query)).toEqual([reason])
    }
    for (const what of ['abort', 'steer'] as const) {
      const query = await asked()
      query.held.call('b', 'Block')
      query.held.call('a', 'Read')
      await flush()
      query.held.fail(busy)
      await flush()
      if (what === 'abort') query.run.abort('escape')
      else query.run.interrupt('look there')
      await flush()
      expect(query.read.run('a').context.abortController.signal.aborted).toBe(true)
      expect(query.block.run('b').context.abortController.signal.aborted).toBe(what === 'abort')
      query.block.run('b').finish()
      await flush()
      expect(how(query)).toEqual(what === 'abort' ? ['aborted_tools', 'escape'] : [undefined])
    }
  },
  async 'a refusal leaves nothing of its reply'() {
    const query = await asked()
    query.held.text('I would')
    query.held.end('refusal')
    await flush()
    expect([how(query), inShort(query.run.transcript)]).toEqual([['completed'], ['user: go']])
  },
  async 'calls that a conversation ends in run first, if they are to'() {
    const call = { type: 'tool_use', id: 'b', name: 'Block', input: {} }
    const messages = [
      { role: 'user' as const, content: 'go' },
      { role: 'assistant' as const, content: [call] },
    ]
    const query = parts({ messages, openCalls: 'run' })
    await flush()
    expect(query.held.requests).toHaveLength(0)
    query.block.run('b').finish({ data: 'B' })
    await flush()
    expect(apiInShort(query.held.requests[0]?.messages ?? []).at(-1)).toBe('user: result b B')
  },
  async 'a message with an interrupt is part of the request that is being prepared'() {
    for (const end of ['reply', 'abort', 'failure'] as const) {
      const preparations: ((fails?: boolean) => void)[] = []
      const prepareMessages = (messages: readonly Message[]) =>
        new Promise<readonly Message[]>((resolve, reject) => {
          preparations.push((fails) => (fails === true ? reject(new Error('not prepared')) : resolve(messages)))
        })
      const query = parts({ prepareMessages })
      await flush()
      query.run.interrupt('wait')
      if (end === 'abort') query.run.abort('escape')
      preparations[0]?.(end === 'failure')
      await flush()
      preparations[1]?.()
      await flush()
      const heard = query.held.requests.map(({ messages }) => apiInShort(messages))
      if (end === 'reply') expect(heard).toEqual([['user: go', 'user: wait']])
      else expect([heard, how(query)[0]]).toEqual([[], end === 'abort' ? 'aborted_streaming' : 'model_error'])
    }
  },
  async 'steering stops the model and what yields, and goes on with the message'() {
    for (const streams of [true, false]) {
      const query = await asked()
      query.held.call('a', 'Read')
      query.held.call('b', 'Block')
      if (!streams) query.held.end('tool_use')
      await flush()
      query.run.interrupt('look there')
      await flush()
      expect([how(query), query.held.requests[0]?.signal.aborted]).toEqual([[undefined], streams])
      query.block.run('b').finish({ data: 'B' })
      await flush()
      expect(query.held.requests).toHaveLength(2)
      expect(inShort(query.run.transcript).slice(-3)).toEqual([
        'user: result a error',
        'user: result b B',
        'user: look there',
      ])
    }
  },
}

function abortedController(): AbortController {
  const controller = new AbortController()
  controller.abort('early')
  return controller
}
