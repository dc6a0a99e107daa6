import type { NewRecord, SessionNote } from '../journal/journal.ts'
import { keyOf } from '../journal/journal.ts'
import { expectSame } from './expect-same.ts'
import { flush } from './flush.ts'
import { codeOf, hearing, type JournalBench } from './journal-bench.ts'

const asked = (question: string): NewRecord => ({ t: 'permission.asked', question, reply: 'r', call: question })
const allow = (question: string, by?: string): SessionNote => ({
  type: 'answer',
  question,
  answer: { behavior: 'allow' },
  ...(by === undefined ? {} : { by }),
})
const message = (uuid: string, content: unknown = uuid): SessionNote => ({ type: 'message', uuid, content })
const copyOf = (note: SessionNote): NewRecord =>
  note.type === 'answer'
    ? { t: 'permission.answered', question: note.question, note: note.question }
    : { t: 'message.sent', note: keyOf(note) }
const keysOf = (notes: readonly SessionNote[]): string[] => notes.map(keyOf)

/** The rules for notes: which notes a session accepts, and which listeners get them. */
export const journalNoteRules: Record<string, (bench: JournalBench) => Promise<void>> = {
  async 'D16 the first answer to a question counts; others are stale'(bench) {
    const journal = await bench.open('create')
    for (const record of [asked('q'), asked('other')]) journal.append(record)
    await journal.flush()
    const heard = hearing(journal)
    expectSame('first', await bench.store.post('s', allow('q', 'ann')), 'accepted')
    expectSame('second', await (await bench.another()).post('s', allow('q', 'bob')), 'stale')
    await heard.until(1)
    journal.append(copyOf(allow('q')))
    await journal.flush()
    expectSame('after it was copied', await bench.store.post('s', allow('q', 'eve')), 'stale')
    await bench.store.post('s', allow('other'))
    await heard.until(2)
    expectSame('heard', heard.notes, [allow('q', 'ann'), allow('other')])
  },
  async 'D16 an answer to a question that is not open is stale'(bench) {
    await bench.closed(asked('q'), asked('over'), { t: 'call.completed', reply: 'r', call: 'over' })
    expectSame('never asked', await bench.store.post('s', allow('nobody')), 'stale')
    expectSame('over', await bench.store.post('s', allow('over')), 'stale')
    expectSame('open', await bench.store.post('s', allow('q')), 'accepted')
  },
  async 'D16 of many answers at once exactly one is accepted, and that one is heard'(bench) {
    const journal = await bench.open('create')
    journal.append(asked('q'))
    await journal.flush()
    const heard = hearing(journal)
    const stores = [bench.store, await bench.another()]
    const names = Array.from({ length: 12 }, (_, index) => `person ${index}`)
    const said = await Promise.all(
      names.map(async (by, index) => [await stores[index % 2]?.post('s', allow('q', by)), by]),
    )
    const winners = said.filter(([answer]) => answer === 'accepted').map(([, by]) => by)
    expectSame('accepted', winners.length, 1)
    await heard.until(1)
    expectSame('heard', heard.notes, [allow('q', winners[0])])
  },
  async 'D20 notes wait while nobody owns the session, in the order in which they came'(bench) {
    await bench.closed(asked('q'))
    const another = await bench.another()
    const notes = [message('m2'), allow('q'), message('m1'), { type: 'abort', uuid: 'x', reason: 'stop' } as const]
    for (const note of notes) expectSame('post', await another.post('s', note), 'accepted')
    const journal = await bench.open('resume')
    const heard = hearing(journal)
    await heard.until(4)
    expectSame('heard', heard.notes, notes)
  },
  async 'D6a a note that a record has copied is not delivered again'(bench) {
    await bench.closed()
    for (const uuid of ['a', 'b', 'c']) await bench.store.post('s', message(uuid))
    const first = await bench.open('resume', 'one')
    const heard = hearing(first)
    await heard.until(3)
    first.append(copyOf(message('a')))
    first.append(copyOf(message('c')))
    await first.close()
    const second = await bench.open('resume', 'two', await bench.another())
    const rest = hearing(second)
    await rest.until(1)
    await bench.store.post('s', message('d'))
    await rest.until(2)
    expectSame(
      'heard',
      [keysOf(heard.notes), keysOf(rest.notes)],
      [
        ['a', 'b', 'c'],
        ['b', 'd'],
      ],
    )
    expectSame('copied once', await bench.store.post('s', message('a')), 'stale')
  },
  async 'D6a the owner hears each note once, wherever it is posted'(bench) {
    const journal = await bench.open('create')
    const heard = hearing(journal)
    const stores = [bench.store, await bench.another()]
    const uuids = Array.from({ length: 20 }, (_, index) => `m${index}`)
    await Promise.all(uuids.map((uuid, index) => stores[index % 2]?.post('s', message(uuid))))
    await heard.until(20)
    await bench.store.post('s', message('last'))
    await heard.until(21)
    expectSame('heard', keysOf(heard.notes).sort(), [...uuids, 'last'].sort())
    expectSame(
      'twice',
      await Promise.all(uuids.map((uuid) => bench.store.post('s', message(uuid)))),
      uuids.map(() => 'stale'),
    )
  },
  async 'D6a every listener hears every note that is not copied; one that stopped hears none'(bench) {
    const journal = await bench.open('create')
    const gone: SessionNote[] = []
    journal.onNote((note) => gone.push(note))()
    const early = hearing(journal)
    await bench.store.post('s', message('a'))
    await early.until(1)
    const late = hearing(journal)
    await bench.store.post('s', message('b'))
    await Promise.all([early.until(2), late.until(2)])
    expectSame('heard', [keysOf(early.notes), keysOf(late.notes), gone], [['a', 'b'], ['a', 'b'], []])
    journal.append(copyOf(message('a')))
    const last = hearing(journal)
    await last.until(1)
    expectSame('heard after a was copied', keysOf(last.notes), ['b'])
  },
  async 'D6a nobody hears notes after close, and they wait for the next owner'(bench) {
    const journal = await bench.open('create')
    const heard = hearing(journal)
    await journal.close()
    await bench.store.post('s', message('a'))
    await flush()
    const next = hearing(await bench.open('resume', 'two'))
    await next.until(1)
    expectSame('heard', [heard.notes, keysOf(next.notes)], [[], ['a']])
  },
  async 'D6a a note is no record'(bench) {
    const journal = await bench.open('create')
    const heard = hearing(journal)
    await bench.store.post('s', message('a'))
    await heard.until(1)
    journal.append(copyOf(message('a')))
    await journal.flush()
    expectSame('numbers', (await bench.read()).map(({ n, t }) => [n, t]).slice(1), [
      [1, 'session.opened'],
      [2, 'message.sent'],
    ])
  },
  async 'D6a keeps any JSON in a note'(bench) {
    const content = [
      { type: 'text', text: '\ud83d half \udc00 \0 🚂\n' },
      { type: 'big', text: 'x'.repeat(700_000) },
    ]
    const journal = await bench.open('create')
    const heard = hearing(journal)
    const note = message('../m/\0 🚂', content)
    expectSame('post', await (await bench.another()).post('s', note), 'accepted')
    await heard.until(1)
    expectSame('heard', heard.notes, [note])
  },
  async 'D6a a note to nobody or of no kind is refused'(bench) {
    expectSame('nobody', await codeOf(bench.store.post('nobody', message('a'))), 'session_not_found')
    await bench.closed(asked('q'))
    const wrong = [
      { type: 'wish', uuid: 'a' },
      { type: 'message', content: 'no uuid' },
      { type: 'message', uuid: 'a', content: 5 },
      { type: 'answer', question: '' },
      { type: 'answer', question: 'q', answer: null },
      { type: 'answer', question: 'q', answer: { behavior: 'perhaps' } },
    ]
    for (const note of wrong)
      expectSame(JSON.stringify(note), await codeOf(bench.store.post('s', note as SessionNote)), 'invalid_option')
    expectSame('the question is still open', await bench.store.post('s', allow('q')), 'accepted')
  },
}
