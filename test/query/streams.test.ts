import { describe, expect, it } from 'vitest'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { callBlock, textBlock } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'
import { apiInShort, inShort, testQuery } from '../support/query.ts'
import { flush, stateOf } from '../support/turn.ts'

const tools = () => {
  const read = heldTool('Read', { safe: true })
  const write = heldTool('Write')
  const late = heldTool('Late', { safe: true, startWhen: 'turnEnded' })
  const eager = heldTool('Eager', { startWhen: 'closed' })
  return { read, write, late, eager, all: [read.tool, write.tool, late.tool, eager.tool] }
}

describe('calls in a stream', () => {
  it('L2 T9 a safe call starts when its block closes, an unsafe one when the next block begins', async () => {
    const { read, write, late, eager, all } = tools()
    const { held, run } = testQuery(all)
    await flush()
    held.start()
    held.call('r', 'Read')
    held.call('l', 'Late')
    await flush()
    expect([read.started, late.started]).toEqual([['r'], []])
    read.run('r').finish()
    held.call('w', 'Write')
    await flush()
    expect([write.started, stateOf(run.executor, 'w')]).toEqual([[], 'queued'])
    held.text('and so on')
    await flush()
    expect(write.started).toEqual(['w'])
    write.run('w').finish()
    held.call('e', 'Eager')
    await flush()
    expect(eager.started).toEqual(['e'])
    eager.run('e').finish()
    held.end('tool_use')
    await flush()
    expect(late.started).toEqual(['l'])
  })

  it.each<[string, unknown, boolean]>([
    ['{}', {}, true],
    ['null', null, true],
    ['undefined', undefined, true],
    ['arguments', { path: 'a.ts' }, false],
  ])('L2 a safe call that came with %s and without deltas waits for the next block only if it may be cut off', async (_, input, waits) => {
    const read = heldTool('Read', { safe: true })
    const { held } = testQuery([read.tool])
    await flush()
    held.start()
    const content_block = { type: 'tool_use', id: 'r', name: 'Read', input }
    held.send({ type: 'content_block_start', index: 0, content_block }, { type: 'content_block_stop', index: 0 })
    await flush()
    expect(read.started).toEqual(waits ? [] : ['r'])
    held.send(...textBlock(1, 'and so on'))
    await flush()
    expect(read.started).toEqual(['r'])
    expect(read.run('r').input).toEqual(input ?? {})
  })

  it('L2 a call whose input is no object is answered when its block closes', async () => {
    const { eager, all } = tools()
    const { held, run } = testQuery(all)
    await flush()
    held.start()
    const content_block = { type: 'tool_use', id: 'e', name: 'Eager', input: 5 }
    held.send({ type: 'content_block_start', index: 0, content_block }, { type: 'content_block_stop', index: 0 })
    await flush()
    expect([eager.started, stateOf(run.executor, 'e')]).toEqual([[], 'yielded'])
  })

  it.each([
    'tool_use',
    'end_turn',
  ])('L2 an unsafe call at the end of a reply starts when it ends with %s', async (reason) => {
    const { write, all } = tools()
    const { held } = testQuery(all)
    await flush()
    held.start()
    held.call('w', 'Write')
    await flush()
    expect(write.started).toEqual([])
    held.end(reason)
    await flush()
    expect(write.started).toEqual(['w'])
  })

  it.each([
    'max_tokens',
    'refusal',
    'model_context_window_exceeded',
  ])('L2 a call still held when the reply ends in %s never runs, and is answered', async (reason) => {
    const { read, write, late, all } = tools()
    const { held, run, result } = testQuery(all)
    await flush()
    held.start()
    held.call('r', 'Read')
    held.call('l', 'Late')
    held.call('w', 'Write')
    held.end(reason)
    await flush()
    read.run('r').finish({ data: 'R' })
    await flush()
    expect([read.started, write.started, late.started]).toEqual([['r'], [], []])
    const results = ['user: result r R', 'user: result l error', 'user: result w error']
    if (reason === 'refusal') {
      expect(await result).toMatchObject({ reason: 'completed', stopReason: 'refusal' })
      expect(inShort(run.transcript).slice(-3)).toEqual(results)
    } else expect(apiInShort(held.requests[1]?.messages ?? []).slice(-3)).toEqual(results)
  })

  it('L2 arguments that do not parse become an error result, and never run', async () => {
    const { read, write, all } = tools()
    const { held } = testQuery(all)
    await flush()
    held.start()
    held.send(...callBlock(0, 'a', 'Read', '{"path": "x'))
    held.send(...callBlock(1, 'b', 'Write', '[1]'))
    held.send(...callBlock(2, 'c', 'Read', '   '))
    held.end('tool_use')
    await flush()
    read.run('c').finish({ data: 'C' })
    await flush()
    expect([read.started, write.started]).toEqual([['c'], []])
    // the API accepts only objects as an input
    expect(apiInShort(held.requests[1]?.messages ?? []).slice(1)).toEqual([
      'assistant: call a Read {}',
      'assistant: call b Write {}',
      'assistant: call c Read {}',
      'user: result a error',
      'user: result b error',
      'user: result c C',
    ])
    const content = JSON.stringify(held.requests[1]?.messages.at(-1)?.content)
    expect(content).toContain('not valid JSON')
    expect(content).toContain('expected object')
  })

  it('L8 a call without a name, or with one that is too long, is sent back with a name that the API accepts', async () => {
    const { held, run } = testQuery(tools().all)
    await flush()
    held.start()
    const nameless = { type: 'tool_use', id: 'a', input: {} }
    held.send(
      { type: 'content_block_start', index: 0, content_block: nameless },
      { type: 'content_block_stop', index: 0 },
    )
    held.send(...callBlock(1, 'b', '', '{}'), ...callBlock(2, 'c', 'x'.repeat(201), '{}'))
    held.end('tool_use')
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? []).slice(1)).toEqual([
      'assistant: call a unknown_tool {}',
      'assistant: call b unknown_tool {}',
      `assistant: call c ${'x'.repeat(128)} {}`,
      'user: result a error',
      'user: result b error',
      'user: result c error',
    ])
    expect(checkTranscript(run.transcript)).toEqual({ ok: true })
  })

  it('L8 arguments that are nested too deeply to be sent back are answered, and removed from the transcript', async () => {
    const { held } = testQuery(tools().all)
    const depth = 20_000
    await flush()
    held.start()
    held.send(...callBlock(0, 'a', 'Read', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`))
    held.end('tool_use')
    await flush()
    expect(apiInShort(held.requests[1]?.messages ?? []).slice(1)).toEqual([
      'assistant: call a Read {}',
      'user: result a error',
    ])
    expect(JSON.stringify(held.requests[1]?.messages)).toContain('nested too deep')
  })

  it('L8 a reply of only white space leaves nothing in the transcript that the API would reject', async () => {
    const { held, run, seen } = testQuery([])
    await flush()
    run.send('once more')
    held.start()
    held.text('\n\n')
    held.text(' ')
    held.end()
    await flush()
    expect(seen.filter(({ type }) => type === 'assistant')).toHaveLength(2)
    held.start()
    held.text('\n\n')
    held.text('Hello.')
    held.end()
    await flush()
    expect(inShort(run.transcript)).toEqual(['user: go', 'user: once more', 'assistant: \n\n', 'assistant: Hello.'])
    expect(checkTranscript(run.transcript)).toEqual({ ok: true })
  })

  it('L2 blocks may interleave, and unknown events are ignored', async () => {
    const { read, all } = tools()
    const { held } = testQuery(all)
    await flush()
    const [aStart, aOne, aTwo, aEnd] = callBlock(0, 'a', 'Read', '{"n":1}')
    const [bStart, bOne, bTwo, bEnd] = callBlock(1, 'b', 'Read', '{"n":2}')
    held.send(null, 5, 'x', {}, { type: 'new_thing' }, { type: 'ping' })
    held.start()
    held.send({ type: 'content_block_delta', index: 7, delta: { type: 'text_delta', text: 'lost' } })
    held.send({ type: 'content_block_stop', index: 9 }, { type: 'content_block_start', index: 'x' })
    held.send(aStart, bStart, bOne, aOne, { type: 'ping' }, aTwo, bTwo, bEnd, aEnd)
    held.send({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: 'late' } })
    held.end('tool_use')
    await flush()
    expect([read.run('a').input, read.run('b').input]).toEqual([{ n: 1 }, { n: 2 }])
    expect(read.started).toEqual(['b', 'a'])
  })

  it('L2 thinking keeps its signature, a server tool call is not run, empty text is removed', async () => {
    const { read, all } = tools()
    const { held } = testQuery(all)
    await flush()
    held.start()
    held.send(
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'server_tool_use', id: 's', name: 'Read', input: {} },
      },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"query":1}' } },
      { type: 'content_block_stop', index: 1 },
      ...textBlock(2, ''),
      ...callBlock(3, 'a', 'Read', '{}'),
    )
    held.end('tool_use')
    await flush()
    expect(read.started).toEqual(['a'])
    read.run('a').finish({ data: 'A' })
    await flush()
    expect(held.requests[1]?.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'server_tool_use', id: 's', name: 'Read', input: { query: 1 } },
      { type: 'tool_use', id: 'a', name: 'Read', input: {} },
    ])
  })

  it('L2 Q8 the same block twice is one call; an id of an earlier turn gets a new one', async () => {
    const { read, all } = tools()
    const { held, run } = testQuery(all)
    await flush()
    held.start()
    held.call('a', 'Read')
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    expect(read.started).toEqual(['a'])
    read.run('a').finish({ data: 'A' })
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    const minted = read.started[1] as string
    expect(minted).not.toBe('a')
    read.run(minted).finish({ data: 'again' })
    await flush()
    expect(inShort(run.transcript)).toEqual([
      'user: go',
      'assistant: call a Read {}',
      'user: result a A',
      `assistant: call ${minted} Read {}`,
      `user: result ${minted} again`,
    ])
  })

  it('L2 in batch mode all calls run after the stream', async () => {
    const { read, eager, all } = tools()
    const { held } = testQuery(all, { toolExecution: 'batch' })
    await flush()
    held.start()
    held.call('r', 'Read')
    held.call('e', 'Eager')
    held.text('and')
    await flush()
    expect([read.started, eager.started]).toEqual([[], []])
    held.end('tool_use')
    await flush()
    expect(read.started).toEqual(['r'])
    read.run('r').finish()
    await flush()
    expect(eager.started).toEqual(['e'])
  })

  it('L1 stream events are yielded on request', async () => {
    const { held, seen, result } = testQuery([], { includeStreamEvents: true })
    await flush()
    held.start()
    held.text('hi')
    held.end()
    await result
    expect(seen.filter(({ type }) => type === 'stream_event')).toHaveLength(6)
  })
})
