import { describe, expect, it } from 'vitest'
import { heldTool } from '../support/held-tool.ts'
import { flush, isResult, stateOf, testTurn, toolUse } from '../support/turn.ts'
import {
  collectWarnings,
  done,
  expectNoStrays,
  never,
  onlyOutcome,
  outcomeOf,
  outcomes,
  progressOf,
  raise,
  roughTool,
} from './support.ts'

expectNoStrays()

describe('bodies', () => {
  it('A7 a body that never settles blocks only the calls behind it, and an abort ends it', async () => {
    const read = heldTool('Read', { safe: true })
    const stuck = roughTool('Stuck', never, { isConcurrencySafe: () => true })
    const { executor, add, clock } = testTurn([stuck, read.tool])
    add('a', 'Stuck')
    add('b', 'Read')
    read.run('b').finish()
    expect(await outcomes(executor)).toEqual([])
    executor.abort('escape')
    clock.increment(5_000)
    expect((await outcomes(executor)).map(({ id, isError }) => [id, isError])).toEqual([
      ['a', true],
      ['b', false],
    ])
  })

  it('P8 Q2 a body that throws synchronously: addTool does not throw, the turn goes on', async () => {
    const { executor, add } = testTurn([
      roughTool('Bad', () => raise(new TypeError('at once'))),
      roughTool('Good', done),
    ])
    expect(() => add('a', 'Bad')).not.toThrow()
    expect(stateOf(executor, 'a')).toBe('completed')
    add('b', 'Good')
    expect((await outcomes(executor)).map(({ isError }) => isError)).toEqual([true, false])
  })

  it('T7 a body may return its result without a promise', async () => {
    const { executor, add } = testTurn([roughTool('Sync', () => ({ data: 'at once' }))])
    add('a', 'Sync')
    expect(await onlyOutcome(executor)).toMatchObject({ content: 'at once', isError: false })
  })
})

describe('progress', () => {
  it('Y2 after the result it is dropped and counted', async () => {
    const read = heldTool('Read')
    const { executor, add } = testTurn([read.tool])
    const warnings = collectWarnings(executor)
    add('a', 'Read')
    read.run('a').finish()
    await flush()
    read.run('a').progress('late')
    await onlyOutcome(executor)
    read.run('a').progress('later')
    await flush()
    expect([...executor.getCompletedResults()]).toEqual([])
    expect(warnings.of('late').map(({ count }) => count)).toEqual([1, 2])
  })

  it('Y2 in the same tick as the return it still comes before the result', async () => {
    const { executor, add } = testTurn([
      roughTool('Read', async (_input, _context, _canUseTool, _message, onProgress) => {
        onProgress({ data: 'last words' })
        return { data: 'done' }
      }),
    ])
    add('a', 'Read')
    await flush()
    expect([...executor.getCompletedResults()].map(({ message }) => message.type)).toEqual(['progress', 'user'])
  })

  it('Y2 100,000 unread events: the newest 1,000 stay, and the first of them has the number of dropped ones', async () => {
    const { executor, add } = testTurn([
      roughTool('Flood', async (_input, _context, _canUseTool, _message, onProgress) => {
        for (let line = 0; line < 100_000; line++) onProgress({ data: line })
        return { data: 'done' }
      }),
    ])
    add('a', 'Flood')
    await flush()
    const updates = [...executor.getCompletedResults()]
    const progress = progressOf(updates)
    expect(progress.map(({ data }) => data)).toEqual(Array.from({ length: 1_000 }, (_, index) => 99_000 + index))
    expect(progress[0]?.dropped).toBe(99_000)
    expect(progress.slice(1).every(({ dropped }) => dropped === undefined)).toBe(true)
    expect(updates.filter(isResult).map(outcomeOf)).toMatchObject([{ id: 'a', content: 'done' }])
  })

  it('Y2 a flood does not drop the progress of other calls', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool], { maxBufferedProgress: 2 })
    add('a', 'Read')
    add('b', 'Read')
    read.run('b').progress('b1')
    for (let line = 0; line < 5_000; line++) read.run('a').progress(line)
    read.run('b').progress('b2')
    const progress = progressOf(executor.getCompletedResults())
    expect(progress.map(({ toolUseID, data, dropped }) => [toolUseID, data, dropped])).toEqual([
      ['b', 'b1', undefined],
      ['a', 4_998, 4_998],
      ['a', 4_999, undefined],
      ['b', 'b2', undefined],
    ])
  })

  it('Y2 a flood that is read in time loses nothing, and the count restarts', async () => {
    const read = heldTool('Read')
    const { executor, add } = testTurn([read.tool], { maxBufferedProgress: 2 })
    add('a', 'Read')
    const lines = (from: number, to: number) => {
      for (let line = from; line < to; line++) read.run('a').progress(line)
      return progressOf(executor.getCompletedResults()).map(({ data, dropped }) => [data, dropped])
    }
    expect(lines(0, 2)).toEqual([
      [0, undefined],
      [1, undefined],
    ])
    expect(lines(2, 5)).toEqual([
      [3, 1],
      [4, undefined],
    ])
    expect(lines(5, 9)).toEqual([
      [7, 2],
      [8, undefined],
    ])
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'line'],
    ['an id that is no string', { toolUseID: 5, data: 'line' }],
  ])('W4 onProgress called with %s is progress of this call', async (_, given) => {
    const { executor, add } = testTurn([
      roughTool('Odd', async (_input, _context, _canUseTool, _message, onProgress) => {
        onProgress(given as never)
        return { data: 'done' }
      }),
    ])
    add('a', 'Odd')
    await flush()
    const updates = [...executor.getCompletedResults()]
    expect(progressOf(updates)).toMatchObject([{ toolUseID: 'a', parentToolUseID: 'a' }])
    expect(updates.filter(isResult)).toHaveLength(1)
  })
})

describe('input that a tool changes', () => {
  const vandal = roughTool(
    'Vandal',
    async (input) => {
      input.file_path = '/etc/passwd'
      ;(input.edits as unknown[]).length = 0
      delete input.command
      throw new TypeError('after the damage')
    },
    { cancelsSiblingsOnError: true },
  )

  const original = () => ({ command: 'npm test', file_path: '/a', edits: [{ old: 'x', new: 'y' }] })

  it('Q8 the block in the transcript stays as the model sent it', async () => {
    const { executor, add, message } = testTurn([vandal])
    add('a', 'Vandal', original())
    await onlyOutcome(executor)
    expect(message.message.content).toEqual([toolUse('a', 'Vandal', original())])
  })

  it('Q8 a repeated block is still the same call', async () => {
    const { executor, add } = testTurn([vandal])
    add('a', 'Vandal', original())
    await onlyOutcome(executor)
    expect(add('a', 'Vandal', original()).id).toBe('a')
    expect(await outcomes(executor)).toEqual([])
  })

  it('W8 T10 the text for siblings shows the input that the model sent', async () => {
    const { executor, add } = testTurn([vandal])
    add('a', 'Vandal', original())
    add('b', 'Vandal', original())
    const [, sibling] = await outcomes(executor)
    expect(sibling?.content).toBe(
      '<tool_use_error>Cancelled: parallel tool call Vandal(npm test) errored</tool_use_error>',
    )
  })
})
