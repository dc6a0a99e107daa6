import { expect } from 'vitest'
import type { QueryOptions, QueryResult } from '../../../src/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { inShort, testQuery } from '../../support/query.ts'
import { settled } from '../../support/turn.ts'

const busy = Object.assign(new Error('busy'), { status: 529 })
const wrong = Object.assign(new Error('wrong'), { status: 400 })

/** A query whose end can be looked at without waiting for it. */
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
  await settled()
  query.held.start()
  return query
}

/** Reason and abort reason, as far as it has ended. */
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
    await settled()
    query.read.run('a').finish()
    await settled()
    query.write.run('w').finish()
    await settled()
    expect(query.held.requests).toHaveLength(2)
    query.held.start()
    query.held.text('done')
    query.held.end()
    await settled()
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
      await settled()
      query.read.run('a').finish()
      await settled()
      expect([how(query), query.held.requests.length]).toEqual([[reason], 1])
    }
    const short = await asked({ maxTurns: 1 })
    short.held.end()
    await settled()
    expect(how(short)).toEqual(['completed'])
  },
  async 'a query that is aborted before its start never asks'() {
    const query = parts({ context: { abortController: abortedController() } })
    await settled()
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
      await settled()
      query.held.start()
      query.held.text('half')
      query.held.fail(busy)
      await settled()
      expect([how(query), query.held.requests.length]).toEqual([[undefined], 1])
      query.clock.increment(5)
      await settled()
      query.held.fail(busy)
      await settled()
      query.clock.increment(5)
      await settled()
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
    await settled()
    expect(inShort(query.run.transcript)).not.toContain('assistant: first')
    expect(inShort(query.run.transcript)).toContain('assistant: third')
  },
  async 'a model error waits for the calls that were announced; an abort overtakes it'() {
    for (const reason of [undefined, 'escape']) {
      const query = await asked()
      query.held.call('b', 'Block')
      query.held.call('w', 'Write')
      query.held.fail(wrong)
      await settled()
      expect(how(query)).toEqual([undefined])
      if (reason !== undefined) query.run.abort(reason)
      query.block.run('b').finish()
      await settled()
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
      await settled()
      if (reason !== undefined) query.run.abort(reason)
      fail()
      await settled()
      expect(how(query)).toEqual(reason === undefined ? ['model_error'] : ['aborted_streaming', 'escape'])
    }
  },
  async 'an abort while streaming pairs every call; a stronger one overtakes an interrupt'() {
    for (const [first, second] of [['escape'], ['interrupt'], ['interrupt', 'escape']] as const) {
      const query = await asked()
      query.held.call('a', 'Read')
      query.held.call('b', 'Block')
      query.held.call('w', 'Write')
      await settled()
      query.run.abort(first)
      await settled()
      expect(query.held.requests[0]?.signal.aborted).toBe(true)
      if (second !== undefined) query.run.abort(second)
      await settled()
      query.block.run('b').finish({ data: 'B' })
      await settled()
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
      await settled()
      query.run.abort(first)
      if (second !== undefined) query.run.abort(second)
      await settled()
      expect(how(query)).toEqual([undefined])
      expect(query.block.run('b').context.abortController.signal.aborted).toBe((second ?? first) === 'escape')
      query.block.run('b').finish({ data: 'B' })
      await settled()
      expect(how(query)).toEqual(['aborted_tools', second ?? first])
    }
  },
  async 'an abort in the backoff'() {
    const query = parts()
    await settled()
    query.held.fail(busy)
    await settled()
    query.run.abort('escape')
    await settled()
    expect(how(query)).toEqual(['aborted_streaming', 'escape'])
  },
  async 'steering stops the model and what yields, and goes on with the message'() {
    for (const streams of [true, false]) {
      const query = await asked()
      query.held.call('a', 'Read')
      query.held.call('b', 'Block')
      if (!streams) query.held.end('tool_use')
      await settled()
      query.run.interrupt('look there')
      await settled()
      expect([how(query), query.held.requests[0]?.signal.aborted]).toEqual([[undefined], streams])
      query.block.run('b').finish({ data: 'B' })
      await settled()
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
