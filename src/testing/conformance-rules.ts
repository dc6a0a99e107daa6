import type { ConformanceBench } from './conformance-bench.ts'
import { expectSame } from './expect-same.ts'
import { flush } from './flush.ts'

type MakeBench = () => ConformanceBench

/** The rules for every executor, each an independent test. */
export const conformanceRules: Record<string, (make: MakeBench) => Promise<void>> = {
  async 'Q2 Q4 starts safe calls side by side and an unsafe one alone, in order'(make) {
    const bench = make()
    const read = bench.tool('Read', { safe: true })
    const edit = bench.tool('Edit')
    for (const [id, name] of [
      ['a', 'Read'],
      ['b', 'Read'],
      ['c', 'Edit'],
      ['d', 'Read'],
    ] as const)
      bench.add(id, name)
    expectSame('started at once', [read.started, edit.started], [['a', 'b'], []])
    for (const id of ['a', 'b']) read.run(id).finish()
    await flush()
    expectSame('started then', [read.started, edit.started], [['a', 'b'], ['c']])
    edit.run('c').finish()
    await flush()
    expectSame('started last', read.started, ['a', 'b', 'd'])
  },
  async 'Q4 runs no more than maxConcurrency at once'(make) {
    const bench = make()
    bench.options = { maxConcurrency: 2 }
    const read = bench.tool('Read', { safe: true })
    for (const id of ['a', 'b', 'c']) bench.add(id, 'Read')
    expectSame('started', read.started, ['a', 'b'])
    read.run('b').finish()
    await flush()
    expectSame('started then', read.started, ['a', 'b', 'c'])
  },
  async 'Q3 Y1 Y3 hands results over in the order asked, an unknown tool included'(make) {
    const bench = make()
    const read = bench.tool('Read', { safe: true })
    for (const [id, name] of [
      ['a', 'Read'],
      ['b', 'Nowhere'],
      ['c', 'Read'],
    ] as const)
      bench.add(id, name)
    read.run('c').finish()
    await flush()
    expectSame('before the first is done', bench.take(), [])
    read.run('a').fail(new Error('broken'))
    await flush()
    expectSame('all', bench.take(), ['a error', 'b error', 'c ok'])
  },
  async 'Y2 hands progress over at once, and none after the result'(make) {
    const bench = make()
    const read = bench.tool('Read', { safe: true })
    for (const id of ['a', 'b']) bench.add(id, 'Read')
    read.run('b').progress(1)
    expectSame('ahead of the cursor', bench.take(), ['b progress'])
    read.run('a').finish()
    read.run('b').progress(2)
    read.run('b').finish()
    await flush()
    read.run('b').progress(3)
    expectSame('the rest', bench.take(), ['b progress', 'a ok', 'b ok'])
  },
  async 'Y4 Y5 wakes a reader that waits, and ends when all is handed over'(make) {
    const bench = make()
    const read = bench.tool('Read', { safe: true })
    bench.add('a', 'Read')
    const words = bench.rest()
    read.run('a').finish()
    expectSame('read', await words, ['a ok', 'end'])
  },
  async 'Q5 Q6 holds a call until it is released, and nothing overtakes an unsafe one'(make) {
    const bench = make()
    const edit = bench.tool('Edit')
    const read = bench.tool('Read', { safe: true })
    bench.add('a', 'Edit', { hold: true })
    bench.add('b', 'Read')
    expectSame('started', [edit.started, read.started], [[], []])
    bench.executor.release('a')
    expectSame('released', edit.started, ['a'])
    edit.run('a').finish()
    await flush()
    expectSame('then', read.started, ['b'])
  },
  async 'A2 a failing call with cancelsSiblingsOnError answers all others'(make) {
    const bench = make()
    const bash = bench.tool('Bash', { safe: true, cancelsSiblingsOnError: true })
    const read = bench.tool('Read', { safe: true, obedient: true })
    bench.add('a', 'Bash')
    bench.add('b', 'Read')
    bench.add('c', 'Nowhere')
    bash.run('a').fail(new Error('exit 1'))
    expectSame('read', await bench.rest(), ['a error', 'b error', 'c error', 'end'])
    expectSame('reason', read.run('b').context.abortController.signal.reason, 'sibling_error')
  },
  async 'A3 an interrupt stops only calls with cancel behaviour'(make) {
    const bench = make()
    const search = bench.tool('Search', { safe: true, cancel: true, obedient: true })
    const read = bench.tool('Read', { safe: true })
    bench.add('a', 'Search')
    bench.add('b', 'Read')
    bench.executor.abort('interrupt')
    await flush()
    expectSame(
      'told',
      [search, read].map(({ run }, at) => run(at === 0 ? 'a' : 'b').context.abortController.signal.aborted),
      [true, false],
    )
    read.run('b').finish()
    expectSame('read', await bench.rest(), ['a error', 'b ok', 'end'])
  },
  async 'A4 A8 an abort answers every call, whenever it comes'(make) {
    const bench = make()
    bench.tool('Edit', { obedient: true })
    bench.add('a', 'Edit')
    bench.add('b', 'Edit')
    bench.host.abort('escape')
    bench.host.abort('again')
    bench.add('c', 'Edit')
    expectSame('read', await bench.rest(), ['a error', 'b error', 'c error', 'end'])
  },
  async 'A5 after discard nothing leaves and nothing starts'(make) {
    const bench = make()
    const edit = bench.tool('Edit')
    bench.add('a', 'Edit')
    bench.add('b', 'Edit')
    const told = bench.executor.discard().map(({ id, started }) => [id, started])
    expectSame('what had run', told, [
      ['a', true],
      ['b', false],
    ])
    edit.run('a').finish()
    await flush()
    expectSame('started', edit.started, ['a'])
    expectSame('read', [bench.take(), await bench.rest()], [[], ['end']])
  },
  async 'A7 a body that ignores its signal does not block the turn'(make) {
    const bench = make()
    bench.tool('Edit')
    bench.add('a', 'Edit')
    bench.executor.abort('escape')
    await flush()
    expectSame('within its grace', bench.take(), [])
    bench.clock.increment(100)
    expectSame('after it', await bench.rest(), ['a error', 'end'])
  },
  async 'P6 what the host denies never runs'(make) {
    const bench = make()
    const deny: typeof bench.canUseTool = () => ({ behavior: 'deny', message: 'no' })
    bench.canUseTool = deny
    const edit = bench.tool('Edit')
    bench.add('a', 'Edit')
    await flush()
    expectSame('read', [await bench.rest(), edit.started], [['a error', 'end'], []])
  },
  async 'P8 whatever a body throws becomes a result'(make) {
    const bench = make()
    const read = bench.tool('Read', { safe: true })
    const thrown = [
      undefined,
      'text',
      null,
      {
        get message(): string {
          throw new Error('no')
        },
      },
    ]
    for (const at of thrown.keys()) bench.add(`c${at}`, 'Read')
    for (const [at, error] of thrown.entries()) read.run(`c${at}`).fail(error)
    expectSame('read', await bench.rest(), ['c0 error', 'c1 error', 'c2 error', 'c3 error', 'end'])
  },
}
