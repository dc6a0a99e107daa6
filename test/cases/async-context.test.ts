import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, query } from '../../src/index.ts'
import { heldModel } from '../support/held-model.ts'
import { drain, flush, testTurn } from '../support/turn.ts'
import { expectNoStrays, heldQuestions } from './support.ts'

expectNoStrays()

const user = new AsyncLocalStorage<string>()

/** A tool that says as whom it runs, at once and after a while. */
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
  it('P6 is that of whoever added the call, not of whoever answered its question', async () => {
    const { canUseTool, question } = heldQuestions()
    const { add, executor } = testTurn([whoAmI()], { canUseTool })
    user.run('asker', () => add('a', 'Who'))
    await flush()
    user.run('approver', () => question('a').answer({ behavior: 'allow' }))
    expect(textOf(await drain(executor))).toContain('asker asker')
  })

  it('P6 so it is where the answer comes by executor.answer', async () => {
    const { add, executor } = testTurn([whoAmI()], { canUseTool: () => ({ behavior: 'later' }) })
    user.run('asker', () => add('a', 'Who'))
    user.run('approver', () => executor.answer('a', { behavior: 'allow' }))
    expect(textOf(await drain(executor))).toContain('asker asker')
  })

  it('Q6 a call that waits runs in its own, not in that of the call that ended', async () => {
    const { add, executor } = testTurn([whoAmI()])
    user.run('first', () => add('a', 'Who'))
    user.run('second', () => add('b', 'Who'))
    expect(textOf(await drain(executor))).toMatch(/first first.*second second/)
  })

  it('P7 a further attempt runs in it too', async () => {
    const { add, executor, clock } = testTurn([whoAmI()])
    user.run('asker', () => add('a', 'Who', { fails: true }))
    await flush()
    user.run('timer', () => clock.increment(0))
    expect(textOf(await drain(executor))).toContain('as asker')
  })

  it('L2 in a query it is that of whoever called query(), whoever reads', async () => {
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
