import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, query } from '../../src/index.ts'
import { heldModel } from '../support/held-model.ts'
import { drain, flush, testTurn } from '../support/turn.ts'
import { expectNoStrays, heldQuestions } from './support.ts'

expectNoStrays()

const user = new AsyncLocalStorage<string>()

/** A tool that returns the user of its async context, read at once and after a while. */
const whoAmI = () =>
  defineTool({
    name: 'Who',
    inputSchema: z.looseObject({}),
    retry: { attempts: 2 },
    call: async (input) => {
      const first = user.getStore()
      await flush()
      if (input.fails === true) throw new Error(`as ${user.getStore()}`)
      return { data: `${first} ${user.getStore()}` }
    },
  })

const textOf = (updates: unknown): string => JSON.stringify(updates)

describe('the async context of a body', () => {
  it('P6 is that of the code that added the call, not of the code that answered its question', async () => {
    const { canUseTool, question } = heldQuestions()
    const { add, executor } = testTurn([whoAmI()], { canUseTool })
    user.run('asker', () => add('a', 'Who'))
    await flush()
    user.run('approver', () => question('a').answer({ behavior: 'allow' }))
    expect(textOf(await drain(executor))).toContain('asker asker')
  })

  it('P6 is the same if the answer comes through executor.answer', async () => {
    const { add, executor } = testTurn([whoAmI()], { canUseTool: () => ({ behavior: 'later' }) })
    user.run('asker', () => add('a', 'Who'))
    user.run('approver', () => executor.answer('a', { behavior: 'allow' }))
    expect(textOf(await drain(executor))).toContain('asker asker')
  })

  it('Q6 a call that waited runs in its own context, not in that of the call that ended', async () => {
    const { add, executor } = testTurn([whoAmI()])
    user.run('first', () => add('a', 'Who'))
    user.run('second', () => add('b', 'Who'))
    expect(textOf(await drain(executor))).toMatch(/first first.*second second/)
  })

  it('P7 is also used for a retry', async () => {
    const { add, executor, clock } = testTurn([whoAmI()])
    user.run('asker', () => add('a', 'Who', { fails: true }))
    await flush()
    user.run('timer', () => clock.increment(0))
    expect(textOf(await drain(executor))).toContain('as asker')
  })

  it('P6 H2 is also that of its hooks after a timeout, whoever moves the clock', async () => {
    const seen: unknown[] = []
    const slow = defineTool({
      name: 'Slow',
      inputSchema: z.looseObject({}),
      timeout: 1_000,
      call: () => new Promise<never>(() => undefined),
    })
    const hooks = { PostToolUseFailure: [{ hooks: [async () => void seen.push(user.getStore())] }] }
    const { add, executor, clock } = testTurn([slow], { context: { hooks }, abortGraceMs: 50 })
    user.run('asker', () => add('a', 'Slow'))
    user.run('timer', () => {
      clock.increment(1_000)
      clock.increment(50)
    })
    await drain(executor)
    expect(seen).toEqual(['asker'])
  })

  it('Q6 a call that a body adds runs in the context of that body', async () => {
    const seen: unknown[] = []
    const inner = defineTool({
      name: 'Inner',
      inputSchema: z.looseObject({}),
      isConcurrencySafe: () => true,
      call: async () => ({ data: seen.push(user.getStore()) }),
    })
    const outer = defineTool({
      name: 'Outer',
      inputSchema: z.looseObject({}),
      isConcurrencySafe: () => true,
      call: async () => ({ data: user.run('body', () => add('b', 'Inner')) !== undefined }),
    })
    const { add, executor } = testTurn([inner, outer])
    user.run('host', () => add('a', 'Outer'))
    await drain(executor)
    expect(seen).toEqual(['body'])
  })

  it('L2 in a query is that of the code that called query(), not of the reader', async () => {
    const held = heldModel()
    const run = user.run('caller', () =>
      query({ messages: 'go', tools: [whoAmI()], model: held.model, canUseTool: () => ({ behavior: 'allow' }) }),
    )
    const reading = user.run('reader', async () => {
      for await (const _ of run);
    })
    await flush()
    user.run('service', () => {
      held.start()
      held.call('a', 'Who', {})
      held.end('tool_use')
    })
    await flush()
    await flush()
    held.start()
    held.text('done')
    held.end()
    await reading
    expect(textOf(run.transcript)).toContain('caller caller')
  })
})
