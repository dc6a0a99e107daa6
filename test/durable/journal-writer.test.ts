import { afterEach, describe, expect, it, vi } from 'vitest'
import { JournalWriter } from '../../src/journal/journal-writer.ts'

afterEach(() => vi.useRealTimers())

/** A journal whose commits are listed by the records that they have, as texts; each is durable at once. */
function listingWriter() {
  const commits: string[] = []
  const sink = {
    async commit(batch: readonly { readonly body: string }[]) {
      commits.push(batch.map(({ body }) => JSON.parse(body).text).join(' '))
    },
    async release() {},
  }
  const journal = new JournalWriter({ id: 's', records: [], bytes: 0, sink, lingerMs: 100 })
  return { journal, commits, append: (text: string) => journal.append({ t: 'note.taken', optional: true, text }) }
}

/** The time goes on, and the step after it ends. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms)
  await new Promise((resolve) => setImmediate(resolve))
}

describe('when the commit of a journal begins', () => {
  it('D8 of records that nobody waits for: when the timer ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { commits, append } = listingWriter()
    append('a')
    await pass(99)
    append('b')
    expect(commits).toEqual([])
    await pass(1)
    expect(commits).toEqual(['a b'])
  })

  it('D8 of records after a commit: when the timer that began before it ends for the second time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { journal, commits, append } = listingWriter()
    append('a')
    await pass(50)
    await journal.flush()
    append('b')
    await pass(50)
    expect(commits).toEqual(['a'])
    await pass(100)
    expect(commits).toEqual(['a', 'b'])
  })

  it('D8 of a record that somebody waits for: with all that follows in this step', async () => {
    const { journal, commits, append } = listingWriter()
    append('a')
    const flushed = journal.flush()
    append('b')
    await flushed
    expect(commits).toEqual(['a b'])
  })

  it('D8 of a record that is waited for alone: at once, also if others wait for it', async () => {
    const { journal, commits, append } = listingWriter()
    append('a')
    const flushed = journal.flush()
    journal.flush(true)
    append('b')
    expect(commits).toEqual(['a'])
    await flushed
    await journal.flush()
    expect(commits).toEqual(['a', 'b'])
  })
})
