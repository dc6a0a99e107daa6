import type { JournalStore, NewRecord } from 'signalbox/durable'
import { expect, it } from 'vitest'

export const sent = (text: unknown): NewRecord => ({ t: 'message.sent', text })

/** The texts of the messages in the log of session `s`. */
export async function textsIn(store: JournalStore): Promise<unknown[]> {
  const texts: unknown[] = []
  for await (const { t, text } of store.read('s')) if (t === 'message.sent') texts.push(text)
  return texts
}

interface Outage {
  make(options?: { retryMs: number }): JournalStore & { end(): Promise<void> }
  server(): { crash(): Promise<unknown>; run(): Promise<unknown> }
}

/** What every store on a server has to do while the server is away. */
export function testOutages({ make, server }: Outage): void {
  it('D19 a server that is killed and restarted costs nothing, and notes still arrive', async () => {
    const store = make()
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    const heard: unknown[] = []
    journal.onNote((note) => heard.push(note))
    for (let n = 0; n < 200; n++) {
      journal.append(sent(n))
      if (n !== 20 && n !== 120) {
        if (n % 5 === 0) await journal.flush()
        continue
      }
      const flushed = journal.flush()
      await server().crash()
      journal.append(sent('while it is away'))
      const later = journal.flush()
      await server().run()
      await Promise.all([flushed, later])
    }
    await journal.flush()
    expect((await textsIn(store)).filter((text) => typeof text === 'number')).toEqual([...Array(200).keys()])
    const note = { type: 'message', uuid: 'm', content: 'x' } as const
    expect(await store.post('s', note)).toBe('accepted')
    await expect.poll(() => heard).toEqual([note])
    await journal.close()
    await store.end()
  })

  it('D19 a server that stays away longer than retryMs fails the journal for good', async () => {
    const store = make({ retryMs: 300 })
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    journal.append(sent('kept'))
    await journal.flush()
    await server().crash()
    journal.append(sent('lost'))
    await expect(journal.flush()).rejects.toMatchObject({ code: 'journal_error' })
    await server().run()
    journal.append(sent('after'))
    await expect(journal.flush()).rejects.toMatchObject({ code: 'journal_error' })
    await expect(journal.close()).rejects.toMatchObject({ code: 'journal_error' })
    const reader = make()
    expect(await textsIn(reader)).toEqual(['kept'])
    await Promise.all([store.end(), reader.end()])
  })
}
