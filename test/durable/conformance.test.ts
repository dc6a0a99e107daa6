import { type Journal, type JournalStore, memoryJournals } from 'signalbox/durable'
import { describeJournalStore } from 'signalbox/testing'
import { describe, expect, it } from 'vitest'

describe('in memory', () => describeJournalStore(() => ({ store: memoryJournals() }), { describe, it }))

describe('the conformance suite', () => {
  const rulesOf = (make: () => JournalStore): [string, () => Promise<void>][] => {
    const rules: [string, () => Promise<void>][] = []
    describeJournalStore(() => ({ store: make() }), {
      describe: (_, body) => body(),
      it: (name, body) => rules.push([name, body]),
    })
    return rules
  }
  /** How the names of failing rules begin; a rule that waits for what never comes counts as failing. */
  const failing = async (make: () => JournalStore, patienceMs?: number): Promise<string[]> => {
    const outcomes = rulesOf(make).map(async ([name, body]) => {
      const never = new Promise<string>((resolve) => {
        if (patienceMs !== undefined) setTimeout(resolve, patienceMs, 'waits')
      })
      const outcome = await Promise.race([
        body().then(
          () => 'passed',
          () => 'failed',
        ),
        never,
      ])
      return outcome === 'passed' ? [] : [name]
    })
    return (await Promise.all(outcomes)).flat()
  }
  const withJournal = (change: (journal: Journal) => Partial<Journal>) => (): JournalStore => {
    const store = memoryJournals()
    const open: JournalStore['open'] = async (...args) => {
      const journal = await store.open(...args)
      const bound: Journal = {
        id: journal.id,
        records: journal.records,
        append: (record) => journal.append(record),
        flush: () => journal.flush(),
        onNote: (listener) => journal.onNote(listener),
        close: () => journal.close(),
      }
      return { ...bound, ...change(bound) }
    }
    return { ...store, open }
  }

  it('finds nothing wrong with a store that passes everything on', async () => {
    expect(await failing(withJournal(() => ({})))).toEqual([])
  })

  it.each<[string, () => JournalStore, RegExp]>([
    ['takes every answer', () => ({ ...memoryJournals(), post: async () => 'accepted' }), /^D16 the first answer/],
    [
      'never says that it was fenced',
      withJournal(({ flush }) => ({ flush: () => flush()?.catch(() => undefined) })),
      /^D10 only one/,
    ],
    ['does not flush', withJournal(() => ({ flush: () => undefined })), /^D8 keeps the order/],
    [
      'forgets what close should flush',
      withJournal(() => ({ close: async () => undefined })),
      /^D8 a record that nobody/,
    ],
    [
      'delivers a note twice',
      withJournal(({ onNote }) => ({
        onNote: (listener) =>
          onNote((note) =>
            [1, 2].forEach(() => {
              listener(note)
            }),
          ),
      })),
      /^D6a the owner hears each note once/,
    ],
    ['delivers no note', withJournal(() => ({ onNote: () => () => undefined })), /^D20/],
  ])('finds a store that %s', async (_, make, rule) => {
    expect(await failing(make, 2_000)).toContainEqual(expect.stringMatching(rule))
  })
  it('shows where long lists of records begin to differ', async () => {
    const forgetful = (): JournalStore => {
      const store = memoryJournals()
      const read: JournalStore['read'] = async function* (id) {
        let count = 0
        for await (const record of store.read(id)) if (++count < 300) yield record
      }
      return { ...store, read }
    }
    const keepsTheOrder = rulesOf(forgetful).find(([name]) => name.startsWith('D8 keeps the order'))?.[1]
    await expect(keepsTheOrder?.()).rejects.toThrow(/written: expected ….*"text":299}\] \(\d+ characters\), received …/)
  })
})
