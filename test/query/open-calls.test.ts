import { describe, expect, it } from 'vitest'
import type { QueryMessage } from '../../src/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { apiInShort, inShort, testQuery } from '../support/query.ts'
import { flush } from '../support/turn.ts'

const user = (content: string) => ({ role: 'user' as const, content })
const calls = (...ids: string[]) => ({
  role: 'assistant' as const,
  content: ids.map((id) => ({ type: 'tool_use' as const, id, name: 'Write', input: {} })),
})
const result = (id: string) => ({
  role: 'user' as const,
  content: [{ type: 'tool_result' as const, tool_use_id: id, content: 'done' }],
})
const isWarning = (message: QueryMessage): boolean =>
  message.type === 'system' && message.subtype === 'unanswered_calls'

describe('calls without a result in the conversation that was given', () => {
  it('L8 S5 are answered by default: the model is told that the result was lost, and the host gets a message', async () => {
    const write = heldTool('Write')
    const { held, seen, run } = testQuery([write.tool], { messages: [user('go'), calls('a', 'b'), result('a')] })
    await flush()
    expect(write.started).toEqual([])
    expect(apiInShort(held.requests[0]?.messages ?? []).slice(-2)).toEqual([
      'user: result a done',
      'user: result b error',
    ])
    expect(seen.filter(isWarning)).toMatchObject([{ toolUseIDs: ['b'] }])
    expect(checkTranscript(run.transcript)).toEqual({ ok: true })
  })

  it('L8 S5 run if the host wants it, and their results come first', async () => {
    const write = heldTool('Write')
    const options = { messages: [user('go'), calls('a', 'b'), result('a')], openCalls: 'run' as const, maxTurns: 1 }
    const { held, seen, run, result: end } = testQuery([write.tool], options)
    await flush()
    expect([write.started, held.requests.length]).toEqual([['b'], 0])
    write.run('b').finish({ data: 'B' })
    await flush()
    expect(apiInShort(held.requests[0]?.messages ?? []).slice(-2)).toEqual(['user: result a done', 'user: result b B'])
    held.start()
    held.text('so')
    held.end()
    // calls from before this query are not a turn of it
    expect(await end).toMatchObject({ reason: 'completed' })
    expect(seen.filter(isWarning)).toEqual([])
    expect(inShort(run.transcript).at(-1)).toBe('assistant: so')
  })

  it('L8 only those of the last reply run; those before it are answered, and each call has one result', async () => {
    const write = heldTool('Write')
    const messages = [user('go'), calls('a'), user('go on'), calls('b')]
    const { held, seen } = testQuery([write.tool], { messages, openCalls: 'run' })
    await flush()
    expect(write.started).toEqual(['b'])
    expect(seen.filter(isWarning)).toMatchObject([{ toolUseIDs: ['a'] }])
    write.run('b').finish({ data: 'B' })
    await flush()
    const results = apiInShort(held.requests[0]?.messages ?? []).filter((line) => line.includes('result'))
    expect(results).toEqual(['user: result a error', 'user: result b B'])
  })

  it('L8 do not run if a user message follows them', async () => {
    const write = heldTool('Write')
    const messages = [user('go'), calls('a'), user('never mind')]
    const { held } = testQuery([write.tool], { messages, openCalls: 'run' })
    await flush()
    expect(write.started).toEqual([])
    expect(apiInShort(held.requests[0]?.messages ?? []).slice(-2)).toEqual(['user: result a error', 'user: never mind'])
  })
})

describe('cleanup of a query', () => {
  it('L6 the iterator of the model is returned when it is stopped', async () => {
    let returned = 0
    const model = () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => undefined),
        return: async () => {
          returned++
          return { done: true as const, value: undefined }
        },
      }),
    })
    const { run, result: end } = testQuery([], { model })
    await flush()
    run.abort('enough')
    await end
    expect(returned).toBe(1)
  })

  it('L4 results come before attachments in the transcript itself, whatever order they came in', async () => {
    const hooks = {
      PostToolUse: [
        { hooks: [async () => ({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'note' } })] },
      ],
    }
    const write = heldTool('Write', { safe: true })
    const { held, run } = testQuery([write.tool], { context: { hooks } as never })
    await flush()
    held.start()
    held.call('a', 'Write')
    held.call('b', 'Write')
    held.end('tool_use')
    await flush()
    for (const id of ['a', 'b']) {
      write.run(id).finish()
      await flush()
    }
    expect(run.transcript.map(({ type }) => type)).toEqual([
      'user',
      'assistant',
      'assistant',
      'user',
      'user',
      'attachment',
      'attachment',
    ])
  })
})
