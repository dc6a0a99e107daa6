import { describe, expect, it } from 'vitest'
import {
  type CanUseTool,
  createAssistantMessage,
  type HookCallback,
  type OpenQuestion,
  type PermissionAnswer,
  runTools,
} from '../../src/index.ts'
import { expectNoStrays, heldQuestions, onlyOutcome, outcomes, textOf } from '../cases/support.ts'
import { heldTool } from '../support/held-tool.ts'
import { chartValue, drain, flush, stateOf, testTurn, toolUse } from '../support/turn.ts'

expectNoStrays()

const defer: HookCallback = async () => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'defer',
    permissionDecisionReason: 'the owner decides',
  },
})

/** A turn whose calls are deferred: by a hook, or by the host itself. */
const putOff = (by: 'hook' | 'host') => {
  const asked: string[] = []
  const told: OpenQuestion[] = []
  const read = heldTool('Read', { safe: true })
  const turn = testTurn([read.tool], {
    canUseTool: (_tool, _input, _context, _message, id) => {
      asked.push(id)
      return { behavior: 'later' }
    },
    context: by === 'hook' ? { hooks: { PreToolUse: [{ hooks: [defer] }] } } : {},
  })
  turn.executor.on('deferred', (question) => told.push(question))
  return { ...turn, asked, told, read }
}

describe.each(['hook', 'host'] as const)('a call whose answer the %s defers', (by) => {
  it('P4 P6 waits as an open question that is reported to the host, and nothing runs', async () => {
    const { add, executor, told, asked, read } = putOff(by)
    add('a', 'Read', { file_path: 'x' })
    await flush()
    expect([stateOf(executor, 'a'), read.started]).toEqual(['executing', []])
    expect(told).toMatchObject([{ toolUseID: 'a', toolName: 'Read', input: { file_path: 'x' } }])
    expect(executor.openQuestions()).toEqual(told)
    expect(asked).toEqual(by === 'hook' ? [] : ['a'])
    if (by === 'hook') expect(told[0]).toMatchObject({ because: { by: 'hook' }, message: 'the owner decides' })
    executor.answer('a', { behavior: 'deny', message: 'no' })
    await onlyOutcome(executor)
  })

  it('P6 runs when it is allowed later, with the changed input; the second answer is too late', async () => {
    const { add, executor, read } = putOff(by)
    add('a', 'Read')
    await flush()
    expect(executor.answer('a', { behavior: 'allow', updatedInput: { n: 1 } })).toBe(true)
    expect(executor.answer('a', { behavior: 'deny', message: 'no' })).toBe(false)
    await flush()
    expect(read.run('a').input).toEqual({ n: 1 })
    read.run('a').finish()
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', isError: false })
  })

  it('P6 does not run when it is denied later', async () => {
    const { add, executor, read } = putOff(by)
    add('a', 'Read')
    await flush()
    executor.answer('a', { behavior: 'deny', message: 'not today' })
    expect(textOf(await onlyOutcome(executor))).toContain('not today')
    expect(read.started).toEqual([])
  })

  it.each(['interrupt', 'escape'])('A3 A4 ends at an abort (%s)', async (reason) => {
    const { add, executor } = putOff(by)
    add('a', 'Read')
    await flush()
    executor.abort(reason)
    expect(textOf(await onlyOutcome(executor))).toContain('The user stopped this call')
    expect(executor.answer('a', { behavior: 'allow' })).toBe(false)
  })
})

describe('a call that a hook defers', () => {
  it('P4 P5 is denied where a rule denies it', async () => {
    const read = heldTool('Read', { safe: true })
    const turn = testTurn([read.tool], {
      context: { hooks: { PreToolUse: [{ hooks: [defer] }] }, permissions: { deny: ['Read'] } },
    })
    turn.add('a', 'Read')
    expect(textOf(await onlyOutcome(turn.executor))).toContain('denied by the rule')
  })

  it('P5 is denied in mode dontAsk', async () => {
    const read = heldTool('Read', { safe: true })
    const { add, executor } = testTurn([read.tool], {
      context: { hooks: { PreToolUse: [{ hooks: [defer] }] }, permissions: { mode: 'dontAsk' } },
    })
    add('a', 'Read')
    expect(textOf(await onlyOutcome(executor))).toContain('in mode dontAsk nobody is asked')
  })

  it('P4 also waits without canUseTool', async () => {
    const read = heldTool('Read', { safe: true })
    const { add, executor } = testTurn([read.tool], {
      canUseTool: undefined as never,
      context: { hooks: { PreToolUse: [{ hooks: [defer] }] } },
    })
    add('a', 'Read')
    await flush()
    expect(executor.openQuestions()).toHaveLength(1)
    executor.answer('a', { behavior: 'allow' })
    await flush()
    expect(read.started).toEqual(['a'])
    read.run('a').finish()
    await onlyOutcome(executor)
  })

  it('B2 is denied in batch mode, where nobody can answer later', async () => {
    const read = heldTool('Read', { safe: true })
    const block = toolUse('a', 'Read')
    const updates = runTools([block], [createAssistantMessage([block])], () => ({ behavior: 'later' }), {
      options: { tools: [read.tool] },
    })
    const { value } = await updates.next()
    expect(JSON.stringify(value?.message)).toContain('nobody can answer later')
  })
})

describe.each(['asking', 'later'] as const)('D15 calls that wait for a person (%s)', (state) => {
  const start = async (maxConcurrency: number) => {
    const { canUseTool: asks, question: asked } = heldQuestions()
    const canUseTool: CanUseTool = state === 'asking' ? asks : () => ({ behavior: 'later' })
    const read = heldTool('Read', { safe: true })
    const fetch = heldTool('Fetch', { safe: true, checkPermissions: () => ({ behavior: 'allow' }) })
    const write = heldTool('Write', { checkPermissions: () => ({ behavior: 'allow' }) })
    const turn = testTurn([read.tool, fetch.tool, write.tool], { canUseTool, maxConcurrency })
    const question = (id: string) =>
      state === 'asking' ? asked(id) : { answer: (answer: PermissionAnswer) => void turn.executor.answer(id, answer) }
    return { ...turn, question, read, fetch, write }
  }

  it('Q4 use no slot: another safe call runs beside them', async () => {
    const { add, executor, fetch, question } = await start(1)
    add('asks', 'Read')
    await flush()
    add('works', 'Fetch')
    await flush()
    expect(fetch.started).toEqual(['works'])
    expect(stateOf(executor, 'asks')).toBe('executing')
    question('asks').answer({ behavior: 'deny', message: 'no' })
    fetch.run('works').finish()
    expect((await outcomes(executor)).map(({ id }) => id)).toEqual(['asks', 'works'])
  })

  it('Q4 Q6 answered when no slot is free, a call returns to the queue, explains why it waits, and is not asked again', async () => {
    const { add, executor, fetch, read, question } = await start(1)
    add('asks', 'Read')
    await flush()
    add('works', 'Fetch')
    await flush()
    question('asks').answer({ behavior: 'allow' })
    await flush()
    expect([stateOf(executor, 'asks'), read.started]).toEqual(['queued', []])
    expect(executor.explain('asks')).toEqual({ ok: false, because: 'full', blockers: ['works'] })
    fetch.run('works').finish()
    await flush()
    expect(read.started).toEqual(['asks'])
    read.run('asks').finish()
    expect((await outcomes(executor)).map(({ id, isError }) => [id, isError])).toEqual([
      ['asks', false],
      ['works', false],
    ])
  })

  it('Q4 Q5 answered when a slot is free, a call runs at once, ahead of an unsafe call that waits for it', async () => {
    const { add, executor, read, write, question } = await start(1)
    add('asks', 'Read')
    add('unsafe', 'Write')
    await flush()
    expect([chartValue(executor).gate, write.started]).toEqual(['shared', []])
    expect(executor.explain('unsafe')).toEqual({ ok: false, because: 'waitsForRunning', blockers: ['asks'] })
    question('asks').answer({ behavior: 'allow' })
    await flush()
    expect(read.started).toEqual(['asks'])
    read.run('asks').finish()
    await flush()
    write.run('unsafe').finish()
    expect(await drain(executor)).toHaveLength(2)
  })

  it('Q4 Y8 a call that is queued again is not in progress, and is cancelled like any waiting call', async () => {
    const { add, executor, fetch, question } = await start(1)
    add('asks', 'Read')
    await flush()
    add('works', 'Fetch')
    await flush()
    question('asks').answer({ behavior: 'allow' })
    await flush()
    executor.abort('escape')
    fetch.run('works').fail('stopped')
    const [first] = await outcomes(executor)
    expect(first?.content).toContain('cancelled before it started')
  })
})
