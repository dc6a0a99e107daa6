import { describe, expect, it } from 'vitest'
import { type ExecutorEvents, SignalboxError } from '../../src/index.ts'
import { collectWarnings, done, expectNoStrays, heldQuestions, outcomes, roughTool, textOf } from '../cases/support.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, testTurn } from '../support/turn.ts'

expectNoStrays()

describe('events for embedders', () => {
  it('P11 tool_use_start when a body starts, with the same id for every attempt', async () => {
    let runs = 0
    const turn = testTurn([
      roughTool(
        'Flaky',
        async () => {
          if (runs++ === 0) throw new Error('once')
          return { data: 'ok' }
        },
        { retry: { attempts: 2 } },
      ),
    ])
    const heard: [string, number][] = []
    turn.executor.on('tool_use_start', ({ toolUseID, attempts }) => heard.push([toolUseID, attempts]))
    turn.add('a', 'Flaky')
    await flush()
    turn.clock.increment(0)
    await drain(turn.executor)
    expect(heard).toEqual([
      ['a', 1],
      ['a', 2],
    ])
  })

  it('P11 there is no tool_use_start for a call that may not run', async () => {
    const turn = testTurn([roughTool('Read', done)], { canUseTool: () => ({ behavior: 'deny', message: 'no' }) })
    let heard = 0
    turn.executor.on('tool_use_start', () => heard++)
    turn.add('a', 'Read')
    await drain(turn.executor)
    expect(heard).toBe(0)
  })

  it('P11 tool_use_error contains the thrown error itself', async () => {
    const error = new Error('broken')
    const turn = testTurn([roughTool('Break', () => Promise.reject(error))])
    const heard: ExecutorEvents['tool_use_error'][] = []
    turn.executor.on('tool_use_error', (event) => heard.push(event))
    turn.add('a', 'Break')
    await drain(turn.executor)
    expect(heard[0]?.error).toBe(error)
  })

  it('P11 no error in tool_use_error if nothing was thrown', async () => {
    const turn = testTurn([heldTool('Slow', { timeout: 10, obedient: true }).tool])
    const heard: ExecutorEvents['tool_use_error'][] = []
    turn.executor.on('tool_use_error', (event) => heard.push(event))
    turn.add('a', 'Slow')
    turn.clock.increment(10)
    await drain(turn.executor)
    expect(heard.map(({ label }) => label)).toEqual(['Timeout'])
    expect(heard[0]).not.toHaveProperty('error')
  })
})

describe('a deny rule with a message', () => {
  it('P5 gives the model the message', async () => {
    const deny = [{ rule: 'Read', message: 'Ask for the index in place of the file.' }]
    const turn = testTurn([roughTool('Read', done)], { context: { permissions: { deny } } })
    turn.add('a', 'Read')
    expect(textOf((await outcomes(turn.executor))[0] as never)).toContain('Ask for the index')
  })

  it.each(['allow', 'ask'])('P5 %s rules have no message', (list) => {
    const permissions = { [list]: [{ rule: 'Read', message: 'x' }] }
    expect(() => testTurn([roughTool('Read', done)], { context: { permissions } as never })).toThrow(SignalboxError)
  })
})

describe('an answer that adds an allow rule', () => {
  const start = async () => {
    const { canUseTool, question } = heldQuestions()
    const read = heldTool('Read', { safe: true, matchesRule: (spec, input) => input.path === spec })
    const turn = testTurn([read.tool], { canUseTool })
    turn.add('a', 'Read', { path: 'x' })
    turn.add('b', 'Read', { path: 'x' })
    turn.add('c', 'Read', { path: 'y' })
    await flush()
    return { ...turn, read, question }
  }

  it('P6 answers equal open questions, and no others', async () => {
    const { executor, read, question } = await start()
    question('a').answer({ behavior: 'allow', addRules: { allow: ['Read(x)'] } })
    await flush()
    expect(read.started.toSorted()).toEqual(['a', 'b'])
    expect(executor.openQuestions().map(({ toolUseID }) => toolUseID)).toEqual(['c'])
    question('b').answer({ behavior: 'deny', message: 'too late' })
    question('c').answer({ behavior: 'deny', message: 'no' })
    for (const id of ['a', 'b']) read.run(id).finish()
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([false, false, true])
  })

  it('P5 does not override a deny rule that comes with it, whoever answers later', async () => {
    const { executor, read, question } = await start()
    question('a').answer({ behavior: 'allow', addRules: { allow: ['Read'], deny: ['Read(y)'] } })
    await flush()
    question('c').answer({ behavior: 'allow' })
    await flush()
    expect(read.started.toSorted()).toEqual(['a', 'b'])
    for (const id of ['a', 'b']) read.run(id).finish()
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([false, false, true])
  })
})

describe('a tool that was written for another engine', () => {
  it('T8 gets one warning with the Signalbox names of its fields', async () => {
    const foreign = {
      mapToolResultToToolResultBlockParam: () => ({}),
      needsPermissions: () => true,
      isConcurrencySafe: () => true,
    }
    const turn = testTurn([
      roughTool('Bash', async () => ({ data: 'x', resultForAssistant: 'x' }) as never, foreign as never),
    ])
    const warnings = collectWarnings(turn.executor)
    turn.add('a', 'Bash')
    turn.add('b', 'Bash')
    await drain(turn.executor)
    const told = warnings.of('foreign_field').map(({ message }) => message)
    for (const [words, times] of [
      ['mapResult(data, toolUseID).', 3],
      ['checkPermissions(input, context)', 1],
      ['cancelsSiblingsOnError', 1],
      ['resultForAssistant', 2],
    ] as const) {
      expect([words, told.filter((each) => each.includes(words)).length]).toEqual([words, times])
    }
  })
})
