import type { Journal, JournalStore, NewRecord } from '../journal/journal.ts'
import { expectSame } from './expect-same.ts'
import { codeOf, type JournalBench } from './journal-bench.ts'

const asked = (question: string, call = question): NewRecord => ({ t: 'permission.asked', question, reply: 'r', call })
const sent = (text: unknown): NewRecord => ({ t: 'message.sent', text })
const many = Array.from({ length: 300 }, (_, index) => sent(index))

/** The rules for the log of a session: order, durability, ownership, and the reported state. */
export const journalLogRules: Record<string, (bench: JournalBench) => Promise<void>> = {
  async 'D10 opening a new session writes session.created and session.opened'({ store }) {
    const created = { signalbox: '1', tools: { Read: 'x' } }
    const journal = await store.open('s', { owner: 'me', mode: 'create', created })
    const [first, second, ...others] = journal.records
    expectSame('first', { ...first, at: 0 }, { n: 0, at: 0, t: 'session.created', ...created, v: 1, id: 's' })
    expectSame('second', [second?.n, second?.t, second?.owner, others], [1, 'session.opened', 'me', []])
    expectSame('times', [typeof first?.at, typeof second?.at], ['number', 'number'])
    await journal.close()
  },
  async 'D10 the modes: create wants a new session, resume an old one, either takes both'(bench) {
    expectSame('resume of nothing', await codeOf(bench.open('resume')), 'session_not_found')
    expectSame('nothing was made', (await bench.listed()).length, 0)
    await (await bench.open('either')).close()
    expectSame('create again', await codeOf(bench.open('create')), 'session_exists')
    await (await bench.open('resume')).close()
    const journal = await bench.open('either')
    const types = journal.records.map(({ t }) => t)
    expectSame('types', types, ['session.created', 'session.opened', 'session.opened', 'session.opened'])
  },
  async 'D10 a wrong id, owner or mode is refused'(bench) {
    const { store } = bench
    for (const [id, owner, mode] of [
      ['', 'me', 'either'],
      ['s', '', 'either'],
      ['s', 'me', 'sometimes'],
    ] as const)
      expectSame(
        `${id} ${owner} ${mode}`,
        await codeOf(store.open(id, { owner, mode: mode as 'create' })),
        'invalid_option',
      )
    expectSame('read of nothing', await codeOf(bench.read('nothing')), 'session_not_found')
  },
  async 'D8 keeps the order, numbers without a gap, and has everything after a flush'(bench) {
    const journal = await bench.open('create')
    for (const [index, record] of many.entries()) {
      journal.append(record)
      if (index % 50 === 0) void journal.flush()
    }
    await journal.flush()
    const another = await bench.another()
    expectSame('written', await bench.written('s', another), many)
    const numbers = (await bench.read('s', another)).map(({ n }) => n)
    expectSame('numbers', numbers, [...numbers.keys()])
    expectSame('flushed', journal.flush() === undefined, true)
  },
  async 'D8 a record that changes after append is kept as it was'(bench) {
    const journal = await bench.open('create')
    const record = { t: 'message.sent', list: [1] }
    journal.append(record)
    record.list.push(2)
    await journal.flush()
    expectSame('written', await bench.written(), [{ t: 'message.sent', list: [1] }])
  },
  async 'D8 flushes of the same step and of a later one all resolve'(bench) {
    const journal = await bench.open('create')
    const flushes = many.map((record) => {
      journal.append(record)
      return journal.flush()
    })
    await flushes[0]
    journal.append(sent('later'))
    await Promise.all([...flushes, journal.flush()])
    expectSame('written', (await bench.written()).length, many.length + 1)
  },
  async 'D8 a record that nobody flushes is there after close'(bench) {
    await bench.closed(sent('unflushed'))
    expectSame('written', await bench.written(), [sent('unflushed')])
  },
  async 'D10 another store on the same data sees everything, and can go on'(bench) {
    await bench.closed(...many)
    const journal = await bench.open('resume', 'two', await bench.another())
    expectSame('records', journal.records.length, many.length + 3)
    journal.append(sent('more'))
    await journal.close()
    expectSame('written', await bench.written(), [...many, sent('more')])
  },
  async 'D10 only one owner can write'(bench) {
    const first = await bench.open('create', 'one')
    const another = await bench.another()
    if (bench.secondOwner === 'locked') {
      expectSame('second', await codeOf(bench.open('either', 'two', another)), 'session_locked')
      expectSame('in the same store', await codeOf(bench.open('either', 'two')), 'session_locked')
      first.append(sent('mine'))
      await first.close()
      await bench.open('resume', 'two', another)
      return expectSame('written', await bench.written(), [sent('mine')])
    }
    const second = await bench.open('resume', 'two', another)
    first.append(sent('late'))
    expectSame('first', await codeOf(first.flush()), 'session_fenced')
    expectSame('for good', await codeOf(first.flush()), 'session_fenced')
    second.append(sent('mine'))
    await second.flush()
    expectSame('close of the first', await codeOf(first.close()), 'session_fenced')
    second.append(sent('still mine'))
    await second.flush()
    expectSame('written', await bench.written(), [sent('mine'), sent('still mine')])
    expectSame('owner', (await bench.listed())[0]?.owner, 'two')
  },
  async 'D10 of many owners that open at once, one can write'(bench) {
    await bench.closed()
    const stores = [bench.store, await bench.another()]
    const opened = await Promise.allSettled(
      many.slice(0, 10).map((_, index) => bench.open('resume', `owner ${index}`, stores[index % 2])),
    )
    const flushed = opened.map(async (each, index) => {
      if (each.status === 'rejected') throw each.reason
      each.value.append(sent(index))
      await each.value.flush()
    })
    const codes = await Promise.all(flushed.map(codeOf))
    expectSame('owners that wrote', codes.filter((code) => code === 'no error').length, 1)
    const expected = bench.secondOwner === 'locked' ? 'session_locked' : 'session_fenced'
    expectSame('others', [...new Set(codes)].sort(), ['no error', expected].sort())
    expectSame('written', (await bench.written()).length, 1)
  },
  async 'D10 close twice is close once; what is appended later is refused, not written'(bench) {
    const journal = await bench.open('create')
    journal.append(sent('first'))
    await Promise.all([journal.close(), journal.close()])
    await journal.close()
    journal.append(sent('late'))
    expectSame('flush', await codeOf(journal.flush()), 'session_closed')
    expectSame('written', await bench.written(), [sent('first')])
  },
  async 'D1 reads a session while its owner writes'(bench) {
    const journal = await bench.open('create')
    for (const record of many) {
      journal.append(record)
      void journal.flush()
      if ((record.text as number) % 60 !== 0) continue
      const seen = await bench.written('s', await bench.another())
      expectSame('a prefix', seen, many.slice(0, seen.length))
    }
    await journal.flush()
    expectSame('all', (await bench.written()).length, many.length)
  },
  async 'D1 keeps any JSON: unicode, lone surrogates, control characters, numbers, deep values'(bench) {
    let deep: unknown = 'bottom'
    for (let level = 0; level < 200; level++) deep = level % 2 === 0 ? [deep] : { deep }
    const values = [
      'héllo 🚂 日本語',
      '\ud83d half \udc00',
      '\0\x01\u2028\u2029\ufeff\r\n\t"\\',
      [0, -0.1, 1e300, Number.MAX_SAFE_INTEGER, true, null],
      { '': 1, __proto: 2, 'a\nb': 3, n: 5, at: 6, c: 7 },
      deep,
    ]
    await bench.closed(...values.map(sent))
    expectSame(
      'written',
      (await bench.written('s', await bench.another())).map(({ text }) => text),
      values,
    )
  },
  async "D1 the store's own fields in a record do not change its number"(bench) {
    await bench.closed({ ...sent('x'), n: 99, at: -1, c: 5 })
    const [, , record] = await bench.read()
    expectSame('number', [record?.n, record?.text, (record?.at ?? -1) > 0], [2, 'x', true])
    await bench.closed(sent('y'))
    expectSame(
      'written',
      (await bench.written()).map(({ text }) => text),
      ['x', 'y'],
    )
  },
  async 'D23 keeps large values'(bench) {
    const large = { t: 'call.completed', text: 'ä'.repeat(700_000), list: Array.from({ length: 90_000 }, (_, n) => n) }
    await bench.closed(sent('before'), large, sent('after'), large)
    expectSame('written', await bench.written('s', await bench.another()), [
      sent('before'),
      large,
      sent('after'),
      large,
    ])
  },
  async 'D19 a record that is no JSON fails the journal; what came before is kept'(bench) {
    const journal = await bench.open('create')
    journal.append(sent('before'))
    journal.append(sent(1n))
    journal.append(sent('after'))
    expectSame('flush', await codeOf(journal.flush()), 'journal_error')
    expectSame('written', await bench.written(), [sent('before')])
    expectSame('close', await codeOf(journal.close()), 'journal_error')
    expectSame('released', await codeOf(bench.open('resume', 'two')), 'no error')
  },
  async 'D22 a record of an unknown type is refused on opening, unless it is optional'(bench) {
    await bench.closed({ t: 'mood.changed', optional: true }, sent('x'))
    expectSame('optional', (await bench.written()).length, 2)
    await bench.closed({ t: 'mood.changed' })
    const before = (await bench.listed())[0]?.records
    expectSame('open', await codeOf(bench.open('resume')), 'journal_newer')
    expectSame('read', await codeOf(bench.read()), 'journal_newer')
    expectSame('nothing was written', (await bench.listed())[0]?.records, before)
  },
  async 'D1 lists sessions with status, questions, owner and times'(bench) {
    expectSame('empty', await bench.listed(), [])
    await bench.closed(sent('x'), asked('q1'), asked('q2'))
    const running = await bench.open('create', 'me', bench.store, 'running')
    running.append(sent('x'))
    await running.flush()
    for (const [id, t] of [
      ['idle', 'run.ended'],
      ['suspended', 'run.suspended'],
    ] as const) {
      const journal = await bench.open('create', 'me', bench.store, id)
      for (const record of [sent('x'), asked('q'), { t: 'permission.answered', question: 'q' }, { t }])
        journal.append(record)
      await journal.close()
    }
    const found = await bench.listed()
    expectSame(
      'sessions',
      found.map(({ id, status, records, questions, owner }) => [
        id,
        status,
        records,
        [...questions].sort(),
        owner ?? null,
      ]),
      [
        ['idle', 'idle', 6, [], null],
        ['running', 'running', 3, [], 'me'],
        ['s', 'lost', 5, ['q1', 'q2'], null],
        ['suspended', 'suspended', 6, [], null],
      ],
    )
    const [{ createdAt = 0, updatedAt = 0 } = {}] = found
    expectSame('times', createdAt > 0 && updatedAt >= createdAt, true)
    const ids = (await bench.listed(['lost', 'idle'])).map(({ id }) => id)
    expectSame('filtered', ids, ['idle', 's'])
  },
  async 'D16 a question closes with its answer, another question of its call, its call, its reply or its run'(bench) {
    const journal = await bench.open('create')
    const open = async (...records: NewRecord[]): Promise<string[]> => {
      for (const record of records) journal.append(record)
      await journal.flush()
      return [...((await bench.listed())[0]?.questions ?? [])].sort()
    }
    expectSame('asked', await open(asked('a'), asked('b'), asked('c'), asked('d')), ['a', 'b', 'c', 'd'])
    const changed = { t: 'permission.asked', question: 'a with another input', reply: 'r', call: 'a' }
    expectSame('changed', await open(changed), ['a with another input', 'b', 'c', 'd'])
    expectSame(
      'stale',
      await bench.store.post('s', { type: 'answer', question: 'a', answer: { behavior: 'allow' } }),
      'stale',
    )
    const answered = { t: 'permission.answered', question: 'a with another input' }
    expectSame('answered', await open(answered), ['b', 'c', 'd'])
    expectSame('completed', await open({ t: 'call.completed', reply: 'r', call: 'b' }), ['c', 'd'])
    const other = { t: 'permission.asked', question: 'e', reply: 'other', call: 'c' }
    expectSame('discarded', await open(other, { t: 'attempt.discarded', reply: 'r' }), ['e'])
    expectSame('ended', await open({ t: 'run.ended' }), [])
  },
  async 'D25 remove takes the log, the notes and the name'(bench) {
    await bench.closed(asked('q'), { t: 'call.completed', text: 'x'.repeat(600_000) })
    await bench.store.post('s', { type: 'message', uuid: 'm', content: 'hello' })
    await bench.store.remove('s')
    await bench.store.remove('s')
    expectSame('list', await bench.listed(), [])
    expectSame('read', await codeOf(bench.read()), 'session_not_found')
    expectSame('post', await codeOf(bench.store.post('s', { type: 'abort', uuid: 'x' })), 'session_not_found')
    const again = await bench.open('create')
    expectSame('records', again.records.length, 2)
    expectSame('a new inbox', await bench.store.post('s', { type: 'message', uuid: 'm', content: 'hello' }), 'accepted')
  },
  async 'D17 D25 an agent names the session around it, and is removed with it'(bench) {
    const { store } = bench
    const make = async (id: string, outer: string | undefined, agent?: string): Promise<void> => {
      const created = outer === undefined ? {} : { created: { outer } }
      const journal = await store.open(id, { owner: 'me', mode: 'create', ...created })
      const started = {
        t: 'agent.started',
        optional: true,
        reply: 'r',
        call: 'c',
        tool: 'Agent',
        session: agent,
      } as const
      if (agent !== undefined) journal.append(started)
      await journal.close()
    }
    await make('s', undefined, 's/r/c')
    await make('s/r/c', 's', 's/r/c/r/c')
    await make('s/r/c/r/c', 's/r/c')
    await make('s/other', undefined)
    const outers = (await bench.listed()).map(({ id, outer }) => [id, outer])
    expectSame('listed', outers, [
      ['s', undefined],
      ['s/other', undefined],
      ['s/r/c', 's'],
      ['s/r/c/r/c', 's/r/c'],
    ])
    await store.remove('s')
    expectSame(
      'left',
      (await bench.listed()).map(({ id }) => id),
      ['s/other'],
    )
  },
  async 'D10 D17 an owner that was replaced cannot open an agent: the next owner keeps it'(bench) {
    if (bench.secondOwner === 'locked') return
    const another = await bench.another()
    for (const [place, next] of [bench.store, another].entries()) {
      const id = `s${place}`
      // the owner names its process, and a process may open a session twice
      const openAs = (around: Journal, store: JournalStore, agent: string): Promise<Journal> =>
        bench.open('either', 'me', store, agent, { created: { outer: id }, within: around.opening })
      const old = await bench.open('create', 'me', bench.store, id)
      // a store that wraps another one may not tell its openings apart
      if (old.opening === undefined) return
      const kept = await openAs(old, bench.store, `${id}/r/c`)
      const outer = await bench.open('resume', 'me', next, id)
      const inner = await openAs(outer, next, `${id}/r/c`)
      for (const agent of [`${id}/r/c`, `${id}/r/d`])
        expectSame(agent, await codeOf(openAs(old, bench.store, agent)), 'session_fenced')
      kept.append(sent('late'))
      expectSame('the agent of the first', await codeOf(kept.close()), 'session_fenced')
      inner.append(sent('still mine'))
      await inner.close()
      expectSame('written', await bench.written(`${id}/r/c`), [sent('still mine')])
      await outer.close()
      expectSame('closed', await codeOf(openAs(outer, next, `${id}/r/e`)), 'session_fenced')
    }
  },
  async 'D25 a session that somebody owns is not written by its old owner after remove'(bench) {
    const journal = await bench.open('create')
    if (bench.secondOwner === 'locked')
      return expectSame('remove', await codeOf((await bench.another()).remove('s')), 'session_locked')
    await bench.store.remove('s')
    journal.append(sent('late'))
    expectSame('flush', await codeOf(journal.flush()), 'session_fenced')
    expectSame('list', await bench.listed(), [])
  },
  async 'D1 any text is an id'(bench) {
    const ids = ['../../etc/passwd', 'a/b/c', 'CON', 'ü 🚂', 'x'.repeat(2_000), 'A', 'a', "'; drop table records; --"]
    for (const id of ids) await (await bench.open('create', 'me', bench.store, id)).close()
    expectSame('ids', (await bench.listed()).map(({ id }) => id).sort(), [...ids].sort())
    for (const id of ids) expectSame('records', (await bench.read(id)).length, 2)
  },
}
