import type { JournalStore } from 'signalbox/durable'
import { expect } from 'vitest'
import { sent } from './store-outages.ts'

/** Two stores on the same place: an owner that was replaced must not take an agent from the next owner. */
export async function expectAgentsToStay(first: JournalStore, next: JournalStore): Promise<void> {
  const agent = { mode: 'either', created: { messages: [], outer: 's' } } as const
  const old = await first.open('s', { owner: 'first', mode: 'create' })
  const outer = await next.open('s', { owner: 'next', mode: 'resume' })
  const inner = await next.open('s/r/c', { owner: 'next', ...agent })
  for (const id of ['s/r/c', 's/r/d']) {
    await expect(first.open(id, { owner: 'first', ...agent })).rejects.toMatchObject({ code: 'session_fenced' })
  }
  inner.append(sent('still mine'))
  await inner.flush()
  const types: string[] = []
  for await (const { t } of next.read('s/r/c')) types.push(t)
  expect(types).toEqual(['session.created', 'session.opened', 'message.sent'])
  await Promise.all([old, outer, inner].map((journal) => journal.close().catch(() => undefined)))
}
