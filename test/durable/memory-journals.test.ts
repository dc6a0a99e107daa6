import { memoryJournals } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
const asked = { t: 'permission.asked', question: 'q1', reply: 'r', call: 'c' }
const answer = { type: 'answer', question: 'q1', answer: { behavior: 'allow' } } as const

describe('journals in memory', () => {
  it('D10 opening writes session.created and session.opened, and the records that come later follow', async () => {
    const store = memoryJournals({ now: () => 7 })
    const journal = await store.open('s', { owner: 'a', mode: 'create', created: { tools: {} } })
    expect(journal.records).toEqual([
      { n: 0, at: 7, t: 'session.created', v: 1, id: 's', tools: {} },
      { n: 1, at: 7, t: 'session.opened', owner: 'a' },
    ])
    journal.append({ t: 'message.sent' })
    expect(await all(store.read('s'))).toHaveLength(2)
    await journal.flush()
    expect((await all(store.read('s')))[2]).toEqual({ n: 2, at: 7, t: 'message.sent' })
    expect(journal.flush()).toBeUndefined()
  })

  it('D10 a second owner fences the first', async () => {
    const store = memoryJournals()
    const first = await store.open('s', { owner: 'a', mode: 'either' })
    const second = await store.open('s', { owner: 'b', mode: 'resume' })
    first.append({ t: 'message.sent' })
    await expect(first.flush()).rejects.toMatchObject({ code: 'session_fenced' })
    await expect(first.flush()).rejects.toMatchObject({ code: 'session_fenced' })
    second.append({ t: 'run.ended' })
    await second.flush()
    await expect(first.close()).rejects.toMatchObject({ code: 'session_fenced' })
    expect((await all(store.list())).map(({ owner, records }) => [owner, records])).toEqual([['b', 4]])
  })

  it('D6a D16 the first answer counts, also while nobody owns the session', async () => {
    const store = memoryJournals()
    const journal = await store.open('s', { owner: 'a', mode: 'create' })
    expect(await store.post('s', answer)).toBe('stale')
    journal.append(asked)
    await journal.close()
    expect(await Promise.all([store.post('s', answer), store.post('s', { ...answer, by: 'x' })])).toEqual([
      'accepted',
      'stale',
    ])
    const again = await store.open('s', { owner: 'b', mode: 'resume' })
    const heard: unknown[] = []
    again.onNote((note) => heard.push(note))
    await null
    await null
    expect(heard).toEqual([answer])
    again.append({ t: 'permission.answered', question: 'q1', note: 'q1' })
    await again.close()
    const last = await store.open('s', { owner: 'c', mode: 'resume' })
    last.onNote((note) => heard.push(note))
    await null
    expect(heard).toHaveLength(1)
  })
})
