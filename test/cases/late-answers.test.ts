import { describe, expect, it } from 'vitest'
import { strongerCause } from '../../machines/index.ts'
import type { HookOutput, InputVerdict, ResultStore } from '../../src/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, type TestTurn, takeAll, testTurn } from '../support/turn.ts'
import { done, expectNoStrays, heldQuestions, onlyOutcome, outcomes, roughTool, textOf } from './support.ts'

expectNoStrays()

describe('answers that come too late', () => {
  it('P4 the allow of a hook that has timed out does not count', async () => {
    let allow: (output: HookOutput) => void = () => undefined
    const late = () =>
      new Promise<HookOutput>((resolve) => {
        allow = resolve
      })
    // a second hook still runs when the first one finally answers
    const never = () => new Promise<HookOutput>(() => undefined)
    const read = heldTool('Read', { safe: true })
    const { add, executor, clock } = testTurn([read.tool], {
      context: {
        hooks: {
          PreToolUse: [
            { hooks: [late], timeout: 1 },
            { hooks: [never], timeout: 2, onFailure: 'continue' },
          ],
        },
      },
    })
    add('a', 'Read')
    await flush()
    clock.increment(1_000)
    allow({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } })
    await flush()
    clock.increment(1_000)
    expect(textOf(await onlyOutcome(executor))).toContain('took longer than 1 s')
    expect(read.started).toEqual([])
  })

  it('P5 an ask rule whose matchesRule throws asks', async () => {
    const { canUseTool, question, asked } = heldQuestions()
    const read = heldTool('Read', {
      matchesRule: () => {
        throw new Error('cannot say')
      },
    })
    const permissions = { ask: ['Read(x)'], allow: ['Read'] }
    const { add, executor } = testTurn([read.tool], { canUseTool, context: { permissions } })
    add('a', 'Read')
    await flush()
    expect([asked, read.started]).toEqual([['a'], []])
    question('a').answer({ behavior: 'deny', message: 'no' })
    await onlyOutcome(executor)
  })

  it('P10 A7 a store that answers after an abort changes nothing', async () => {
    let saved: (where: { path: string }) => void = () => undefined
    const resultStore: ResultStore = {
      save: () =>
        new Promise((resolve) => {
          saved = resolve
        }),
    }
    const turn = testTurn([roughTool('Read', async () => ({ data: 'x'.repeat(100) }), { maxResultSizeChars: 10 })], {
      resultStore,
    })
    turn.add('a', 'Read')
    await flush()
    turn.executor.abort('escape')
    await flush()
    saved({ path: '/late' })
    const result = await onlyOutcome(turn.executor)
    expect(textOf(result)).toContain('the call was stopped before it was')
    expect(textOf(result)).not.toContain('/late')
  })

  it('P3 A4 validateInput does not run after an abort', async () => {
    let normalized: (input: Record<string, unknown>) => void = () => undefined
    let checked = 0
    const turn = testTurn([
      roughTool('Read', done, {
        normalizeInput: () =>
          new Promise((resolve) => {
            normalized = resolve
          }),
        validateInput: (): InputVerdict => {
          checked++
          return { result: true }
        },
      }),
    ])
    turn.add('a', 'Read')
    await flush()
    turn.executor.abort('escape')
    normalized({})
    await flush()
    expect(checked).toBe(0)
    expect(await outcomes(turn.executor)).toHaveLength(1)
  })
})

describe('a body that calls its own abort()', () => {
  const start = () => {
    const read = heldTool('Read', { safe: true })
    const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true })
    const turn = testTurn([read.tool, bash.tool])
    turn.add('r', 'Read')
    turn.add('b', 'Bash')
    return { ...turn, read, bash }
  }

  it('A2 A6 after a sibling error, does not end the turn of the host', async () => {
    const { executor, host, read, bash } = start()
    bash.run('b').fail('broken')
    await flush()
    read.run('r').context.abortController.abort('me too')
    expect(host.signal.aborted).toBe(false)
    read.run('r').fail('stopped')
    expect((await drain(executor)).length).toBe(2)
  })

  it('A5 A6 after a discard, does not reach the host', async () => {
    const { executor, host, read, bash } = start()
    const { abortController } = read.run('r').context
    executor.discard()
    abortController.abort('me too')
    await flush()
    expect(host.signal.aborted).toBe(false)
    for (const run of [read.run('r'), bash.run('b')]) run.fail('stopped')
    await flush()
    expect(takeAll(executor)).toEqual([])
  })
})

describe('a body that discards its run and then calls its own abort()', () => {
  it('A5 A6 does not reach the host, although its signal has not aborted yet', async () => {
    const turn: TestTurn = testTurn([
      roughTool('Stop', async (_input, { abortController }) => {
        turn.executor.discard()
        abortController.abort('me too')
        return { data: 'done' }
      }),
    ])
    turn.add('a', 'Stop')
    await flush()
    expect(turn.host.signal.aborted).toBe(false)
  })
})

describe('two equal causes', () => {
  it('A1 A8 the earlier one stays', () => {
    const [first, second] = ['first', 'second'].map((reason) => ({ kind: 'user_interrupted' as const, reason }))
    expect(strongerCause(first, second as never)).toBe(first)
  })

  it('A4 A8 the signal and the telemetry of a call carry the first of two aborts', async () => {
    const read = heldTool('Read', { cancel: true })
    const { add, executor } = testTurn([read.tool])
    const messages: string[] = []
    executor.on('tool_use_cancelled', ({ message }) => messages.push(message))
    add('a', 'Read')
    executor.abort('interrupt')
    executor.abort('escape')
    read.run('a').fail('stopped')
    await onlyOutcome(executor)
    expect(read.run('a').context.abortController.signal.reason).toBe('interrupt')
    expect(messages).toEqual(['"interrupt"'])
  })
})
