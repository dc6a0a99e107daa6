import { describe, expect, it } from 'vitest'
import { query } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { apiInShort, inShort, testQuery } from '../support/query.ts'
import { flush } from '../support/turn.ts'

const overloaded = Object.assign(new Error('Overloaded'), { status: 529 })
const refused = Object.assign(new Error('Bad request'), { status: 400 })

/** A reply that breaks off while a call with effects runs. */
async function brokenOff(error: Error, options: Parameters<typeof testQuery>[1] = {}) {
  const write = heldTool('Write', { obedient: true })
  const parts = testQuery([write.tool], options)
  await flush()
  parts.held.start()
  parts.held.call('w', 'Write')
  // the call starts when the stream has moved on
  parts.held.text('and then')
  await flush()
  expect(write.started).toEqual(['w'])
  parts.held.fail(error)
  await flush()
  return { ...parts, write }
}

describe('a reply that breaks off after a call with effects has started', () => {
  it('L5 counts as far as it came, and the next attempt knows what was done', async () => {
    const { held, write, clock, result, run, seen } = await brokenOff(overloaded)
    expect(held.requests).toHaveLength(1)
    write.run('w').finish({ data: 'written' })
    await flush()
    expect(seen.filter((message) => message.type === 'system' && message.subtype === 'model_retry')).toMatchObject([
      { discarded: [], calls: [{ id: 'w', started: true }] },
    ])
    clock.increment(500)
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? []).filter((line) => line.includes(' w'))).toEqual([
      'assistant: call w Write {}',
      'user: result w written',
    ])
    held.start()
    held.text('done')
    held.end()
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(inShort(run.transcript).at(-1)).toBe('assistant: done')
  })

  it('L5 L7 is a failure all the same: the attempts come to an end', async () => {
    const { held, write, clock, result } = await brokenOff(overloaded, { retry: { attempts: 1 } })
    write.run('w').finish({ data: 'written' })
    await flush()
    clock.increment(500)
    await flush()
    held.start()
    held.call('x', 'Write')
    held.text('and then')
    await flush()
    held.fail(overloaded)
    await flush()
    write.run('x').finish({ data: 'written' })
    expect(await result).toMatchObject({ reason: 'model_error' })
    expect(held.requests).toHaveLength(2)
  })

  it('L5 L7 ends where a hook stops it', async () => {
    const hooks = { PostToolUse: [{ hooks: [async () => ({ continue: false, stopReason: 'enough' })] }] }
    const { held, write, result } = await brokenOff(overloaded, { context: { hooks } })
    write.run('w').finish({ data: 'written' })
    expect(await result).toMatchObject({ reason: 'hook_stopped' })
    expect(held.requests).toHaveLength(1)
  })

  it('L5 L7 ends where no turn is left', async () => {
    const { held, write, result } = await brokenOff(overloaded, { maxTurns: 1 })
    write.run('w').finish({ data: 'written' })
    expect(await result).toMatchObject({ reason: 'max_turns' })
    expect(held.requests).toHaveLength(1)
  })

  it('L6 L7 an abort reaches the call also where the failure cannot be retried', async () => {
    const { write, result, run } = await brokenOff(refused)
    run.abort('escape')
    expect(write.run('w').context.abortController.signal.reason).toBe('escape')
    expect(await result).toMatchObject({ reason: 'aborted_streaming', abortReason: 'escape' })
  })

  it('L7 without an abort the failure is told when the call has its result', async () => {
    const { write, result, run } = await brokenOff(refused)
    write.run('w').finish({ data: 'written' })
    expect(await result).toMatchObject({ reason: 'model_error', error: refused })
    expect(inShort(run.transcript)).toContain('user: result w written')
  })
})

describe('a stream that cannot be read', () => {
  const unreadable = Object.defineProperty({ type: 'content_block_stop' }, 'index', {
    enumerable: true,
    get: () => {
      throw new Error('trap')
    },
  })
  const began = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } }

  it.each([
    ['an event that throws', [unreadable], 'An event of the stream cannot be read'],
    ['a block that begins twice', [began, began], 'Block 0 was started again before it ended'],
  ])('L5 L7 %s is a failure of the model', async (_, events, words) => {
    const run = query({
      messages: 'go',
      tools: [],
      retry: { attempts: 0 },
      async *model() {
        yield { type: 'message_start', message: { id: 'm', model: 'x' } } as never
        for (const event of events) yield event as never
      },
    })
    for await (const _message of run);
    expect(run.result).toMatchObject({ reason: 'model_error' })
    expect(String((run.result as { error?: unknown }).error)).toContain(words)
  })
})

describe('a reply that came whole', () => {
  it('L5 gives the next one all its attempts again', async () => {
    const read = heldTool('Read', { safe: true })
    const { held, clock, result } = testQuery([read.tool], { retry: { attempts: 1 } })
    const failOnce = async () => {
      await flush()
      held.fail(overloaded)
      await flush()
      clock.increment(500)
      await flush()
      held.start()
    }
    await failOnce()
    held.call('r', 'Read')
    held.end('tool_use')
    await flush()
    read.run('r').finish()
    await failOnce()
    held.text('done')
    held.end()
    expect(await result).toMatchObject({ reason: 'completed' })
  })
})
