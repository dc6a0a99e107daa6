import { type AnyTool, defineTool } from 'signalbox'
import { type JournalStore, openSession } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { expect } from 'vitest'
import { z } from 'zod'

/** A session that waits for a person and writes nothing must learn that another process has opened it. */
export async function expectToLearnOfNextOwner(first: JournalStore, next: JournalStore): Promise<void> {
  const pay = defineTool({ name: 'Pay', inputSchema: z.object({}), call: async () => ({ data: 'paid' }) }) as AnyTool
  const session = await openSession({
    id: 's',
    journals: first,
    owner: 'first',
    tools: [pay],
    canUseTool: () => new Promise(() => undefined),
    model: scriptedModel([[{ call: 'Pay', input: {} }]]),
  })
  session.send('pay')
  await expect.poll(() => session.questions().length).toBe(1)
  const taken = await next.open('s', { owner: 'next', mode: 'resume' })
  await session.whenIdle()
  expect(session.result).toMatchObject({ reason: 'journal_error', error: { code: 'session_fenced' } })
  await taken.close()
  await session.close().catch(() => undefined)
}
