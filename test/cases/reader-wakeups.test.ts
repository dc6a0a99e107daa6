import { describe, expect, it } from 'vitest'
import { createAssistantMessage, runTools } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, drain, flush, takeAll, testTurn, toolUse } from '../support/turn.ts'
import { done, expectNoStrays, idsOf, never, roughTool } from './support.ts'

expectNoStrays()

const safeRead = () => roughTool('Read', done, { isConcurrencySafe: () => true })

describe('a reader and callbacks of the host', () => {
  it('Y4 Y5 a callback that takes one message while a reader asks for one: the reader gets the next', async () => {
    const byCallback: string[] = []
    let isReading = false
    const turn = testTurn([safeRead()], {
      context: {
        setInProgressToolUseIDs: () => {
          if (!isReading) return
          isReading = false
          for (const update of turn.executor.getCompletedResults()) {
            byCallback.push(...idsOf([update]))
            break
          }
        },
      },
    })
    for (const id of ['a', 'b', 'c']) turn.add(id, 'Read')
    await flush()
    isReading = true
    const rest = idsOf(await drain(turn.executor))
    expect([...byCallback, ...rest].sort()).toEqual(['a', 'b', 'c'])
    expect(byCallback).toHaveLength(1)
  })

  it('Y5 a uuid function that reads results never gets an incomplete message', async () => {
    const inside: unknown[] = []
    let n = 0
    const turn = testTurn([roughTool('Hang', never)], {
      uuid: () => {
        for (const { message } of turn.executor.getCompletedResults()) inside.push(message)
        return `id-${n++}`
      },
    })
    turn.add('a', 'Hang')
    turn.add('b', 'Hang')
    turn.executor.abort('escape')
    turn.clock.increment(5_000)
    const messages = [...inside, ...(await drain(turn.executor)).map(({ message }) => message)]
    expect(messages).not.toContain(undefined)
    expect(messages).toHaveLength(2)
  })

  it('Y5 Y6 a uuid that reads while the messages of a call are made: none is handed over twice or lost', async () => {
    const seen: unknown[] = []
    const turn = testTurn([roughTool('Hang', never)], {
      context: {
        hooks: {
          PreToolUse: [
            {
              hooks: [
                async () => ({
                  hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: 'mind the gap' },
                }),
              ],
            },
          ],
        },
      },
      uuid: () => {
        for (const { message } of turn.executor.getCompletedResults()) seen.push(message.type)
        return 'id'
      },
    })
    turn.add('a', 'Hang')
    await flush()
    turn.executor.abort('escape')
    turn.clock.increment(5_000)
    seen.push(...(await drain(turn.executor)).map(({ message }) => message.type))
    expect(seen).toEqual(['user', 'attachment', 'system'])
  })

  it('Y4 a reader that was refused inside a uuid function is woken', async () => {
    let isAsked = false
    const reads: Promise<unknown>[] = []
    const turn = testTurn([roughTool('Read', async () => ({ data: { any: 'data' } }))], {
      uuid: () => {
        if (!isAsked) reads.push(turn.executor.getRemainingResults().next())
        isAsked = true
        return 'id'
      },
    })
    turn.add('a', 'Read')
    await flush()
    expect(await Promise.all(reads)).toMatchObject([{ done: false, value: { message: { type: 'user' } } }])
  })
})

describe('an actor that a host controls directly', () => {
  it('Y4 A5 stopped: readers end, the running body is aborted, and the executor is idle when the body has settled', async () => {
    const read = heldTool('Read')
    const turn = testTurn([read.tool])
    turn.add('a', 'Read')
    const reader = turn.executor.getRemainingResults().next()
    turn.executor.actor.stop()
    expect(await reader).toEqual({ done: true, value: undefined })
    expect(read.run('a').context.abortController.signal.aborted).toBe(true)
    let isIdle = false
    const idle = turn.executor.whenIdle().then(() => {
      isIdle = true
    })
    await flush()
    expect(isIdle).toBe(false)
    read.run('a').finish()
    await idle
    expect(takeAll(turn.executor)).toEqual([])
  })

  it('§9 an event without its call, or with a foreign one, is ignored', async () => {
    const turn = testTurn([safeRead()])
    for (const type of ['call.add', 'call.release', 'call.withdraw', 'call.requeued', 'call.completed'] as const) {
      for (const call of [undefined, null, {}, { index: 0 }, { index: -1, port: {} }]) {
        turn.executor.actor.send({ type, call, because: 'x' } as never)
      }
    }
    for (const siblings of [undefined, null, 5, {}]) {
      turn.executor.actor.send({ type: 'abort.siblings', siblings, description: 'x' } as never)
    }
    expect(turn.executor.actor.getSnapshot().status).toBe('active')
    turn.add('a', 'Read')
    expect(idsOf(await drain(turn.executor))).toEqual(['a'])
    expect(chartValue(turn.executor)).toEqual({ gate: 'open', run: 'clear' })
  })

  it('A5 discarded by an event to the actor: explain says so', () => {
    const turn = testTurn([roughTool('Hang', never)])
    turn.add('a', 'Hang')
    turn.add('b', 'Hang')
    turn.executor.actor.send({ type: 'abort.streamingFallback' })
    expect(turn.executor.explain('b')).toEqual({ ok: false, because: 'discarded', blockers: [] })
    turn.clock.increment(5_000)
  })
})

describe('a batch whose reader leaves while it sleeps', () => {
  it('B2 throw() ends it at once and rejects with the error', async () => {
    const block = toolUse('a', 'Hang')
    const updates = runTools([block], [createAssistantMessage([block])], undefined, {
      options: { tools: [roughTool('Hang', never, { checkPermissions: () => ({ behavior: 'allow' }) })] },
    })
    const sleeping = updates.next()
    const error = new Error('enough')
    await expect(updates.throw(error)).rejects.toBe(error)
    expect(await sleeping).toEqual({ done: true, value: undefined })
  })
})

describe('a context modifier that returns the controller of its call', () => {
  const careless = () =>
    roughTool('Cd', async (_input, context) => ({ data: 'ok', contextModifier: () => ({ ...context, cwd: '/x' }) }))

  it("A6 Y7 a person's stop still reaches the host", async () => {
    const turn = testTurn([careless(), safeRead()], {
      canUseTool: ({ name }) =>
        name === 'Read' ? { behavior: 'deny', message: 'no', interrupt: true } : { behavior: 'allow' },
    })
    turn.add('a', 'Cd')
    turn.add('b', 'Read')
    const updates = await drain(turn.executor)
    expect(turn.host.signal.reason).toBe('permission_stop')
    expect(updates.at(-1)?.newContext.abortController).toBe(turn.host)
    expect(updates.at(-1)?.newContext.cwd).toBe('/x')
  })
})
