import { describe, expect, it } from 'vitest'
import type { ProgressMessage, ToolResultBlock } from '../../../src/index.ts'
import { subAgent } from '../../../src/query/sub-agent/index.ts'
import { heldModel } from '../../support/held-model.ts'
import { heldTool } from '../../support/held-tool.ts'
import { inShort, testQuery } from '../../support/query.ts'
import { flush } from '../../support/turn.ts'

/** An outer query whose model calls an agent, whose model calls Read. */
const nested = (options: Partial<Parameters<typeof subAgent>[0]> = {}, outer: Parameters<typeof testQuery>[1] = {}) => {
  const inner = heldModel()
  const read = heldTool('Read', { safe: true, obedient: true })
  const agent = subAgent({ tools: [read.tool], model: inner.model, retry: { attempts: 0 }, ...options })
  const parts = testQuery([agent], outer)
  return { ...parts, inner, read }
}

const begun = async (...args: Parameters<typeof nested>) => {
  const parts = nested(...args)
  await flush()
  parts.held.start()
  parts.held.call('outer', 'Agent', { prompt: 'look' })
  parts.held.end('tool_use')
  await flush()
  parts.inner.start()
  parts.inner.call('inner', 'Read', { path: 'x' })
  parts.inner.end('tool_use')
  await flush()
  return parts
}

const resultIn = (content: unknown): ToolResultBlock => (content as ToolResultBlock[])[0] as ToolResultBlock

describe('an agent inside an agent', () => {
  it('rejects an invalid option when the agent is made, not when it is called', () => {
    const make = (options: object) => () => subAgent({ tools: [], model: heldModel().model, ...options })
    expect(make({ maxTurns: 0 })).toThrow('maxTurns: expected a number of at least 1, received 0.')
    expect(make({ model: 'a name' })).toThrow('model: expected a function, received "a name".')
    expect(make({ onQuery: 5 })).toThrow('onQuery: expected a function, received 5.')
    expect(make({ maxturns: 3 })).toThrow('Unknown option maxturns.')
  })

  it('L4 W4 T7 does its task, appears as progress of its call, and reports its last text', async () => {
    const { read, inner, held, seen } = await begun()
    expect(inner.requests[0]?.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'look' }] }])
    read.run('inner').finish({ data: 'text' })
    await flush()
    inner.start()
    inner.text('It says')
    inner.text('text.')
    inner.end()
    await flush()
    const result = resultIn(held.requests[1]?.messages.at(-1)?.content)
    expect([result.is_error, result.content]).toEqual([undefined, 'It says\n\ntext.'])
    const progress = seen.filter((message): message is ProgressMessage => message.type === 'progress')
    expect(new Set(progress.map(({ parentToolUseID }) => parentToolUseID))).toEqual(new Set(['outer']))
    expect(progress.filter(({ toolUseID }) => toolUseID === 'inner')).toHaveLength(2)
  })

  it('L6 A7 an abort reaches the innermost call, and every call has its result', async () => {
    const { read, inner, run, result } = await begun()
    run.abort('escape')
    expect(await result).toMatchObject({ reason: 'aborted_tools' })
    expect(read.run('inner').context.abortController.signal.aborted).toBe(true)
    expect(inner.requests).toHaveLength(1)
    expect(inShort(run.transcript).slice(1, 3)).toEqual([
      'assistant: call outer Agent {"prompt":"look"}',
      'user: result outer error',
    ])
  })

  it('W8 L6 an agent that is stopped reports that it was cut short, with its text so far', async () => {
    const parts = nested()
    await flush()
    parts.held.start()
    parts.held.call('outer', 'Agent', { prompt: 'look' })
    parts.held.end('tool_use')
    await flush()
    parts.inner.start()
    parts.inner.text('The bug is in a.ts.')
    parts.inner.call('inner', 'Read', { path: 'x' })
    parts.inner.end('tool_use')
    await flush()
    parts.run.abort('escape')
    await parts.result
    const message = parts.run.transcript.find(({ type }, at) => type === 'user' && at > 0)
    const result = resultIn(message?.type === 'user' ? message.message.content : undefined)
    expect(result.content).toMatch(/stopped before it finished.*\n.*\nThe bug is in a\.ts\./)
  })

  it('W8 L6 one that is stopped in a reply without words says what it had said before', async () => {
    const { read, inner, run, result } = await begun()
    read.run('inner').finish({ data: 'text' })
    await flush()
    inner.start()
    inner.text('The answer is in y.')
    inner.call('second', 'Read', { path: 'y' })
    inner.end('tool_use')
    await flush()
    read.run('second').finish({ data: 'more' })
    await flush()
    inner.start()
    inner.call('third', 'Read', { path: 'z' })
    inner.end('tool_use')
    await flush()
    run.abort('escape')
    await result
    expect(JSON.stringify(run.transcript)).toContain('Its output so far:\\nThe answer is in y.')
  })

  it('L6 an abort while its model streams ends that stream', async () => {
    const parts = nested()
    await flush()
    parts.held.start()
    parts.held.call('outer', 'Agent', { prompt: 'look' })
    parts.held.end('tool_use')
    await flush()
    parts.run.abort('escape')
    expect(await parts.result).toMatchObject({ reason: 'aborted_tools' })
    expect(parts.inner.requests[0]?.signal.aborted).toBe(true)
  })

  it('P6 A6 its questions go to the host; one that stops the turn stops the outer query', async () => {
    const asked: string[] = []
    const { result, held, read } = await begun(
      {},
      {
        canUseTool: (tool, _input, _context, _message, id) => {
          asked.push(`${tool.name} ${id}`)
          return tool.name === 'Agent' ? { behavior: 'allow' } : { behavior: 'deny', message: 'stop', interrupt: true }
        },
      },
    )
    expect(await result).toMatchObject({ reason: 'aborted_tools', abortReason: 'permission_stop' })
    expect([asked, read.started, held.requests.length]).toEqual([['Agent outer', 'Read inner'], [], 1])
  })

  it('P5 deny rules of the outer query hold inside', async () => {
    const { inner, read } = await begun({}, { context: { permissions: { deny: ['Read'] } } })
    expect([read.started, inner.requests.length]).toEqual([[], 2])
    expect(resultIn(inner.requests[1]?.messages.at(-1)?.content).is_error).toBe(true)
  })

  it('L7 a model that fails inside is an error of the call, and the outer query goes on', async () => {
    const { read, inner, held } = await begun()
    read.run('inner').finish()
    await flush()
    inner.fail(new Error('no credit'))
    await flush()
    const result = resultIn(held.requests[1]?.messages.at(-1)?.content)
    expect(result.is_error).toBe(true)
    expect(result.content).toContain('no credit')
  })

  it('L7 an agent that did not finish says so', async () => {
    const { read, held } = await begun({ maxTurns: 1 })
    read.run('inner').finish()
    await flush()
    expect(resultIn(held.requests[1]?.messages.at(-1)?.content).content).toContain('did not finish: max_turns')
  })

  it('L4 onQuery is called when its query begins, and its return value when the query ends', async () => {
    const heard: string[] = []
    const { read, inner, held } = await begun({
      onQuery: (query, { toolUseID, description }) => {
        heard.push(`begun ${toolUseID} ${description}`)
        query.onExecutor((executor) => executor.on('completed', ({ toolUseID: call }) => heard.push(`settled ${call}`)))
        return () => heard.push(`over ${query.result?.reason}`)
      },
    })
    expect(heard).toEqual(['begun outer look'])
    read.run('inner').finish()
    await flush()
    inner.start()
    inner.text('Done.')
    inner.end()
    await flush()
    expect(heard).toEqual(['begun outer look', 'settled inner', 'over completed'])
    expect(resultIn(held.requests[1]?.messages.at(-1)?.content).content).toBe('Done.')
  })

  it('L6 the function returned by onQuery is called after an abort, and its errors are ignored', async () => {
    let left = 0
    const { run, result } = await begun({
      onQuery: () => () => {
        left++
        throw new Error('cannot leave')
      },
    })
    run.abort('escape')
    expect(await result).toMatchObject({ reason: 'aborted_tools' })
    await flush()
    expect(left).toBe(1)
  })

  it('L7 an onQuery that throws fails the call with that error, and nothing runs', async () => {
    const { held, inner } = nested({
      onQuery: () => {
        throw new Error('the page is gone')
      },
    })
    await flush()
    held.start()
    held.call('outer', 'Agent', { prompt: 'look' })
    held.end('tool_use')
    await flush()
    const result = resultIn(held.requests[1]?.messages.at(-1)?.content)
    expect([result.is_error, inner.requests.length]).toEqual([true, 0])
    expect(result.content).toContain('the page is gone')
  })
})
