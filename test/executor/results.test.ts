import { describe, expect, it } from 'vitest'
import { ProgressBuffer } from '../../src/executor/progress-buffer.ts'
import type { PermissionAnswer, StreamingToolExecutor, ToolUseContext } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, resultOf, stateOf, takeReady, testTurn } from '../support/turn.ts'

const readAndWrite = () => {
  const read = heldTool('Read', { safe: true })
  const write = heldTool('Write')
  return { read, write, tools: [read.tool, write.tool] }
}

describe('the ordered cursor', () => {
  it('Y1 results leave in emission order, whatever finishes first', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    read.run('c').finish()
    read.run('b').finish()
    await flush()
    expect(takeReady(executor)).toEqual([])
    expect(stateOf(executor, 'c')).toBe('completed')
    read.run('a').finish()
    await flush()
    expect(takeReady(executor).map(([id]) => id)).toEqual(['a', 'b', 'c'])
  })

  it('Y1 the event completed has the messages of each call before the cursor reaches it, once, whatever the outcome', async () => {
    const { read, write, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    const told: (string | undefined)[] = []
    const stop = executor.on('completed', ({ toolUseID, messages }) => {
      const [first] = messages
      told.push(
        `${toolUseID} ${first?.type === 'user' ? JSON.stringify(first.message.content).includes('is_error') : ''}`,
      )
    })
    add('a', 'Read')
    add('b', 'Read')
    add('c', 'Write')
    add('d', 'Nobody')
    read.run('b').finish()
    await flush()
    expect(told).toEqual(['d true', 'b false'])
    expect(takeReady(executor)).toEqual([])
    read.run('a').fail(new Error('no'))
    await flush()
    write.run('c').finish()
    await flush()
    expect(told).toEqual(['d true', 'b false', 'a true', 'c false'])
    expect(takeReady(executor).map(([id]) => id)).toEqual(['a', 'b', 'c', 'd'])
    stop()
    add('e', 'Read')
    executor.abort('escape')
    await flush()
    expect(told).toHaveLength(4)
  })

  it('Y6 discarded messages are not reported', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    const told: string[] = []
    executor.on('completed', ({ toolUseID }) => told.push(toolUseID))
    add('a', 'Read')
    executor.discard()
    read.run('a').finish()
    await flush()
    expect(told).toEqual([])
  })

  it('Y1 the chart itself hands over only the call at the cursor', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    add('a', 'Read')
    add('b', 'Read')
    read.run('b').finish()
    await flush()
    executor.actor.send({ type: 'results.take' })
    expect(executor.actor.getSnapshot().context.run.cursor).toBe(0)
    expect(stateOf(executor, 'b')).toBe('completed')
    expect(takeReady(executor)).toEqual([])
    read.run('a').finish()
    await flush()
    expect(takeReady(executor).map(([id]) => id)).toEqual(['a', 'b'])
  })

  it('Y2 progress does not wait for the cursor, arrives in order, and never after the result', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    add('a', 'Read')
    add('b', 'Read')
    const late: unknown[] = []
    executor.on('warning', ({ code, toolUseID }) => late.push([code, toolUseID]))
    read.run('b').progress(1)
    read.run('a').progress(2)
    read.run('b').progress(3)
    read.run('b').finish()
    await flush()
    read.run('b').progress(4)
    const messages = [...executor.getCompletedResults()].map(({ message }) => message)
    expect(messages.map((m) => m.type === 'progress' && [m.toolUseID, m.parentToolUseID, m.data])).toEqual([
      ['b', 'b', 1],
      ['a', 'a', 2],
      ['b', 'b', 3],
    ])
    expect(late).toEqual([['late', 'b']])
  })

  it('Y2 without a reader the oldest progress is dropped, and the next message has the count', () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools, { maxBufferedProgress: 3 })
    add('a', 'Read')
    add('b', 'Read')
    for (let n = 0; n < 5; n++) read.run('a').progress(n)
    read.run('b').progress('b')
    const kept = [...executor.getCompletedResults()].map(
      ({ message: m }) => m.type === 'progress' && [m.data, m.dropped],
    )
    expect(kept).toEqual([
      [2, 2],
      [3, undefined],
      [4, undefined],
      ['b', undefined],
    ])
  })

  it('Y2 a buffer of progress that was cleared counts nothing from before', () => {
    const buffer = new ProgressBuffer(1)
    const call = {} as Parameters<ProgressBuffer['push']>[0]
    const message = (uuid: string) => ({ type: 'progress', uuid, data: {} }) as Parameters<ProgressBuffer['push']>[1]
    buffer.push(call, message('before'))
    buffer.clear()
    buffer.push(call, message('after'))
    expect([buffer.shift(), buffer.shift()]).toEqual([message('after'), undefined])
  })

  it('Y3 getCompletedResults hands over what is ready and never blocks', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    add('a', 'Read')
    expect([...executor.getCompletedResults()]).toEqual([])
    read.run('a').finish()
    await flush()
    expect(takeReady(executor)).toEqual([['a', 'a done']])
    expect(takeReady(executor)).toEqual([])
  })

  it('Y4 getRemainingResults waits for messages, includes calls that are added later, and ends', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    add('a', 'Read')
    const seen: string[] = []
    const reader = (async () => {
      for await (const update of executor.getRemainingResults()) seen.push(resultOf(update).tool_use_id)
      seen.push('end')
    })()
    await flush()
    expect(seen).toEqual([])
    add('b', 'Read')
    read.run('a').finish()
    await flush()
    expect(seen).toEqual(['a'])
    read.run('b').finish()
    await reader
    expect(seen).toEqual(['a', 'b', 'end'])
  })

  it('Y4 ends at once if there is nothing to wait for', async () => {
    expect(await drain(testTurn([]).executor)).toEqual([])
  })

  it('Y5 each message is handed over once, with several readers and an early break', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    for (const id of ['a', 'b', 'c', 'd']) add(id, 'Read')
    const first: string[] = []
    const leaver = (async () => {
      for await (const update of executor.getRemainingResults()) {
        first.push(resultOf(update).tool_use_id)
        break
      }
    })()
    await flush()
    for (const id of ['a', 'b', 'c', 'd']) read.run(id).finish()
    await leaver
    expect(first).toEqual(['a'])
    const [one, two] = await Promise.all([drain(executor), drain(executor)])
    expect([...one, ...two].map((update) => resultOf(update).tool_use_id).sort()).toEqual(['b', 'c', 'd'])
  })

  it('Y5 return() ends a sleeping reader and does not affect the others', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    add('a', 'Read')
    const sleeper = executor.getRemainingResults()
    const pending = sleeper.next()
    expect(await sleeper.return()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
    read.run('a').finish()
    expect(await drain(executor)).toHaveLength(1)
  })

  it('Y5 a call with several messages is yielded when the last of them was handed over', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    add('a', 'Read')
    read.run('a').finish({ structuredOutput: { ok: true } })
    await flush()
    const ready = executor.getCompletedResults()
    expect(ready.next().value?.message.type).toBe('user')
    expect(stateOf(executor, 'a')).toBe('completed')
    ready.return()
    const [rest] = [...executor.getCompletedResults()]
    expect(rest?.message).toMatchObject({
      type: 'attachment',
      toolUseID: 'a',
      attachment: { type: 'structured_output', data: { ok: true } },
    })
    expect(stateOf(executor, 'a')).toBe('yielded')
  })

  it('Y6 exactly one result per call in a turn where everything goes wrong', async () => {
    const { read, write, tools } = readAndWrite()
    const { add, executor, clock, host } = testTurn(tools)
    add('ok', 'Read')
    add('fails', 'Read')
    add('unknown', 'Nope')
    add('stuck', 'Read')
    add('waits', 'Write')
    add('held', 'Write', {}, { hold: true })
    read.run('ok').finish()
    read.run('fails').fail('no reason')
    await flush()
    host.abort('escape')
    add('late', 'Read')
    clock.increment(5_000)
    const ids = (await drain(executor)).map((update) => resultOf(update).tool_use_id)
    expect(ids).toEqual(['ok', 'fails', 'unknown', 'stuck', 'waits', 'held', 'late'])
    expect(write.started).toEqual([])
  })

  it('Y6 after discard there is no result at all', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    add('a', 'Read')
    add('b', 'Read')
    read.run('a').finish()
    await flush()
    executor.discard()
    read.run('b').progress('more')
    read.run('b').finish()
    await flush()
    expect([...executor.getCompletedResults()]).toEqual([])
    expect(await drain(executor)).toEqual([])
  })
})

describe('context modifiers', () => {
  const mark = (name: string) => (context: ToolUseContext) => ({
    ...context,
    marks: [...((context.marks as string[]) ?? []), name],
  })
  const marksOf = (context: unknown) => (context as { marks?: string[] }).marks ?? []

  it('Y7 W7 apply in emission order, with or without a reader', async () => {
    const { read, write, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    add('w', 'Write')
    for (const id of ['c', 'b', 'a']) {
      read.run(id).finish({ contextModifier: mark(id) })
      await flush()
    }
    expect(marksOf(write.run('w').context)).toEqual(['a', 'b', 'c'])
    write.run('w').finish({ contextModifier: mark('w') })
    const updates = await drain(executor)
    expect(updates.map(({ newContext }) => marksOf(newContext).join(''))).toEqual(['a', 'ab', 'abc', 'abcw'])
  })

  it('W7 Y7 a listener that reads as soon as a call has completed sees what that call changed', async () => {
    const { write, tools } = readAndWrite()
    const seen: string[][] = []
    const { add, executor } = testTurn(tools)
    executor.on('completed', () => {
      for (const { newContext } of executor.getCompletedResults()) seen.push(marksOf(newContext))
    })
    add('w', 'Write')
    write.run('w').finish({ contextModifier: mark('w') })
    await flush()
    expect(seen).toEqual([['w']])
  })

  it('Y7 a safe call sees those before its group of safe calls, and none of its own group', async () => {
    const { read, write, tools } = readAndWrite()
    const { add } = testTurn(tools, { maxConcurrency: 1 })
    add('w', 'Write')
    for (const id of ['a', 'b', 'c']) add(id, 'Read')
    write.run('w').finish({ contextModifier: mark('w') })
    await flush()
    read.run('a').finish({ contextModifier: mark('a') })
    await flush()
    expect([marksOf(read.run('a').context), marksOf(read.run('b').context)]).toEqual([['w'], ['w']])
  })

  it.each([
    ['is withdrawn', (executor: StreamingToolExecutor) => executor.withdraw('held', 'cut off'), ['b']],
    ['still is held', () => true, []],
  ] as const)('Y7 an unsafe call that overtook a held one sees the context at the start of its body: it %s', async (_, then, marks) => {
    const { read, write, tools } = readAndWrite()
    let allow: (answer: PermissionAnswer) => void = () => undefined
    const asked: unknown[] = []
    const { add, executor } = testTurn(tools, {
      canUseTool: ({ name }, _input, context) => {
        if (name === 'Read') return { behavior: 'allow' }
        asked.push(marksOf(context))
        return new Promise((resolve) => {
          allow = resolve
        })
      },
    })
    add('held', 'Read', {}, { hold: true })
    add('b', 'Read')
    add('w', 'Write')
    await flush()
    read.run('b').finish({ contextModifier: mark('b') })
    await flush()
    then(executor)
    allow({ behavior: 'allow' })
    await flush()
    expect([asked, marksOf(write.run('w').context)]).toEqual([[[]], marks])
    expect(write.run('w').context.toolUseID).toBe('w')
  })

  it('Y7 modifiers of aborted calls are dropped', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    add('a', 'Read')
    executor.abort('escape')
    read.run('a').finish({ contextModifier: mark('a') })
    const [update] = await drain(executor)
    expect(marksOf(update?.newContext)).toEqual([])
  })

  it('Y7 a modifier that throws is ignored with a warning; the result is kept', async () => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    const codes: string[] = []
    executor.on('warning', ({ code }) => codes.push(code))
    add('a', 'Read')
    read.run('a').finish({
      contextModifier: () => {
        throw new Error('no')
      },
    })
    const [update] = await drain(executor)
    expect(update && resultOf(update).content).toBe('a done')
    expect(codes).toEqual(['context_modifier_failed'])
  })

  it.each<[string, object]>([
    ['hooks', { hooks: 5 }],
    ['a matcher', { hooks: { PreToolUse: [{ matcher: '(', hooks: [] }] } }],
    ['a rule', { permissions: { allow: ['((('] } }],
    ['a mode', { permissions: { mode: 'never' } }],
  ])('Y7 a modifier that returns an unusable %s is ignored with a warning: no later executor gets it', async (_, bad) => {
    const { read, tools } = readAndWrite()
    const { add, executor } = testTurn(tools)
    const codes: string[] = []
    executor.on('warning', ({ code }) => codes.push(code))
    add('a', 'Read')
    read.run('a').finish({ contextModifier: (context) => ({ ...context, ...bad }) })
    const [update] = await drain(executor)
    expect(codes).toEqual(['context_modifier_failed'])
    expect(() => testTurn(tools, { context: update?.newContext ?? {} })).not.toThrow()
  })
})

describe('indicators for the host', () => {
  const indicators = () => {
    let ids = new Set<string>()
    const history: boolean[] = []
    return {
      ids: () => [...ids],
      history,
      context: {
        setInProgressToolUseIDs: (update: (previous: Set<string>) => Set<string>) => {
          ids = update(ids)
        },
        setHasInterruptibleToolInProgress: (value: boolean) => {
          history.push(value)
        },
      },
    }
  }

  it('Y8 an id is in progress from executing to yielded', async () => {
    const { read, write, tools } = readAndWrite()
    const host = indicators()
    const { add, executor } = testTurn(tools, { context: host.context })
    add('a', 'Read')
    add('w', 'Write')
    expect(host.ids()).toEqual(['a'])
    read.run('a').finish()
    await flush()
    expect(host.ids()).toEqual(['a', 'w'])
    takeReady(executor)
    expect(host.ids()).toEqual(['w'])
    write.run('w').finish()
    await drain(executor)
    expect(host.ids()).toEqual([])
  })

  it('Y8 interruptible is true only while everything that executes has cancel behaviour, and is reported on change', async () => {
    const cancel = heldTool('Search', { safe: true, cancel: true })
    const block = heldTool('Read', { safe: true })
    const host = indicators()
    const { add } = testTurn([cancel.tool, block.tool], { context: host.context })
    add('a', 'Search')
    add('b', 'Search')
    add('c', 'Read')
    expect(host.history).toEqual([true, false])
    block.run('c').finish()
    await flush()
    cancel.run('a').finish()
    cancel.run('b').finish()
    await flush()
    expect(host.history).toEqual([true, false, true, false])
  })

  it('Y8 a waiting call that is withdrawn changes nothing', () => {
    const host = indicators()
    const { add, executor } = testTurn([heldTool('Fetch', { cancel: true }).tool], { context: host.context })
    add('a', 'Fetch')
    add('b', 'Fetch')
    executor.withdrawRest('not needed')
    expect(stateOf(executor, 'b')).toBe('completed')
    expect([host.ids(), host.history]).toEqual([['a'], [true]])
  })

  it('Y8 discard clears both', () => {
    const search = heldTool('Search', { safe: true, cancel: true })
    const host = indicators()
    const { add, executor } = testTurn([search.tool], { context: host.context })
    add('a', 'Search')
    expect(host.ids()).toEqual(['a'])
    executor.discard()
    expect([host.ids(), host.history]).toEqual([[], [true, false]])
  })
})
