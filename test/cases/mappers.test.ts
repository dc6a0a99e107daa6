import { describe, expect, it } from 'vitest'
import { heldTool } from '../support/held-tool.ts'
import { testTurn } from '../support/turn.ts'
import { done, expectNoStrays, onlyOutcome, outcomes, raise, roughTool, textOf } from './support.ts'

expectNoStrays()

describe('mappers', () => {
  it('P10 a mapper that returns a rejecting promise: an error result and no unhandled rejection', async () => {
    const { executor, add } = testTurn([
      roughTool('Odd', done, { mapResult: async () => raise(new TypeError('later')) }),
    ])
    add('a', 'Odd')
    expect(await onlyOutcome(executor)).toMatchObject({ isError: true })
  })

  it('P10 a mapper that throws: an error result that says so, and the next call runs', async () => {
    const tool = roughTool('Odd', done, { mapResult: () => raise(new TypeError('cannot map')) })
    const { executor, add } = testTurn([tool, roughTool('Good', done)])
    add('a', 'Odd')
    add('b', 'Good')
    const [odd, good] = await outcomes(executor)
    expect(odd).toMatchObject({ id: 'a', isError: true })
    expect(odd?.content).toMatch(/^<tool_use_error>.*cannot map.*<\/tool_use_error>$/s)
    expect(good).toMatchObject({ content: 'done' })
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'text'],
    ['a promise', Promise.resolve({ type: 'tool_result', tool_use_id: 'a', content: 'x' })],
    ['another type', { type: 'text', text: 'x' }],
    ['no content', { type: 'tool_result', tool_use_id: 'a' }],
    ['content that is an object', { type: 'tool_result', tool_use_id: 'a', content: {} }],
    ['content with null in it', { type: 'tool_result', tool_use_id: 'a', content: [null] }],
    ['content with a number in it', { type: 'tool_result', tool_use_id: 'a', content: [42] }],
    ['a block without a type', { type: 'tool_result', tool_use_id: 'a', content: [{ text: 'x' }] }],
  ])('P10 W3 a mapper that returns %s: an error result that the API accepts', async (_, mapped) => {
    const { executor, add } = testTurn([roughTool('Odd', done, { mapResult: () => mapped })])
    add('a', 'Odd')
    const outcome = await onlyOutcome(executor)
    expect(outcome.isError).toBe(true)
    expect(textOf(outcome)).toMatch(/mapResult/)
  })

  it('Y6 the id of another call in a mapped result is corrected', async () => {
    const read = heldTool('Read', { mapResult: () => ({ type: 'tool_result', tool_use_id: 'b', content: 'mine' }) })
    const { executor, add } = testTurn([read.tool])
    add('a', 'Read')
    read.run('a').finish()
    expect(await onlyOutcome(executor)).toMatchObject({ id: 'a', content: 'mine' })
  })

  it.each([
    ['no text', ''],
    ['no blocks', []],
  ])('L8 a mapped error with %s gets a text, because the API rejects an error without one', async (_, content) => {
    const mapResult = () => ({ type: 'tool_result', tool_use_id: 'a', content, is_error: true })
    const { executor, add } = testTurn([roughTool('Odd', done, { mapResult })])
    add('a', 'Odd')
    const outcome = await onlyOutcome(executor)
    expect(outcome.isError).toBe(true)
    expect(textOf(outcome)).toContain('failed without an error message')
  })

  it('W3 a mapper that returns a lone surrogate: text that the API accepts', async () => {
    const mapResult = () => ({ type: 'tool_result', tool_use_id: 'a', content: 'a\ud800b' })
    const { executor, add } = testTurn([roughTool('Odd', done, { mapResult })])
    add('a', 'Odd')
    expect((await onlyOutcome(executor)).content).toBe('a\ufffdb')
  })
})
