import { describe, expect, it } from 'vitest'
import { createProgressMessage, createToolResultMessage } from '../../src/index.ts'
import { EvidenceBook } from '../../src/testing/evidence-book.ts'
import {
  assertInvariants,
  type CallEvidence,
  flush,
  heldTool,
  heldTurn,
  turnInvariants,
  watchInvariants,
} from '../../src/testing/index.ts'
import { breachesOf } from '../../src/testing/invariant.ts'

const recordOf = (id: string, index: number, isSafe: boolean) =>
  ({ id, name: 'Read', index, isSafe, yieldsToInterrupt: true, stage: 'queued' }) as never

/** Two calls, one safe and one unsafe, without any evidence yet. */
function twoCalls() {
  const book = new EvidenceBook(2)
  const [a, b] = [recordOf('a', 0, true), recordOf('b', 1, false)]
  const [first, second] = [book.announced(a), book.announced(b)]
  const result = (id: string, content = 'done') =>
    book.read(
      createToolResultMessage({ type: 'tool_result', tool_use_id: id, content }, { sourceToolAssistantUUID: 'x' }),
    )
  const progress = (id: string) => book.read(createProgressMessage({ toolUseID: id, parentToolUseID: id, data: 1 }))
  const move = (call: CallEvidence, ...phases: string[]) => {
    for (const phase of phases) book.moved(call, phase, call === first ? a : b)
  }
  return { book, a: first, b: second, result, progress, move }
}

const broken: Record<string, (turn: ReturnType<typeof twoCalls>) => void> = {
  'one result per call': ({ result, move, a }) => {
    move(a, 'executing.calling.here', 'completed')
    result('a')
    result('a')
  },
  'emission order': ({ result }) => {
    result('b')
    result('a')
  },
  exclusivity: ({ move, a, b }) => {
    move(a, 'executing.calling.here')
    move(b, 'executing.calling.here')
  },
  'no overtaking': ({ move, a, b, book }) => {
    a.isSafe = false
    move(b, 'executing.calling.here')
    book.gate = 'exclusive'
  },
  'the gate says who runs': ({ move, a }) => move(a, 'executing.calling.here'),
  'no start after an abort': ({ book, move, a }) => {
    book.executorMoved('open', 'aborted')
    move(a, 'executing.calling.here')
  },
  'progress before result': ({ result, progress }) => {
    result('a')
    progress('a')
  },
  'every progress arrives': ({ result, a }) => {
    a.body = {
      starts: 1,
      isRunning: false,
      isAbandoned: false,
      outcome: undefined,
      reported: 1,
      signal: new AbortController().signal,
    }
    result('a')
  },
  'nothing left behind': ({ book, move, a, b, result }) => {
    for (const call of [a, b]) move(call, 'completed', 'yielded')
    result('a')
    result('b')
    book.leftovers = ['a timer']
  },
  'transcript valid': ({ move, a, b, result }) => {
    result('a')
    for (const call of [a, b]) move(call, 'completed', 'yielded')
  },
  'deny means never run': ({ book, move, a }) => {
    book.denied(a)
    move(a, 'executing.calling.here')
  },
  'no call waits without a reason': () => undefined,
  'explanations are true': ({ book, move, a }) => {
    move(a, 'executing.calling.here')
    book.gate = 'shared'
    book.explained(new Map([['b', { ok: false, because: 'full', blockers: ['a'] }]]))
  },
  'an abort reaches all': ({ book }) => book.executorMoved('open', 'discarded'),
  'an interrupt stops only calls that allow it': ({ book, a, b, move }) => {
    Object.assign(a, { stopsAtInterrupt: false })
    move(b, 'completed')
    book.executorMoved('shared', 'interrupted')
    move(a, 'executing.stopping')
  },
  'the strongest reason wins': ({ book }) => {
    book.executorMoved('open', 'siblingErrored')
    book.executorMoved('open', 'aborted')
  },
  "a call's own outcome stands": ({ a }) => {
    const signal = new AbortController().signal
    a.body = {
      starts: 1,
      isRunning: false,
      isAbandoned: false,
      outcome: { ok: true, wasTold: false },
      reported: 0,
      signal,
    }
    a.ending = { by: 'abort', cause: { kind: 'user_interrupted', reason: 'x' }, reached: 'finished' }
  },
  'readers are woken': ({ book, move, a }) => {
    book.sleepingReaders = 1
    move(a, 'executing.calling.here', 'completed')
  },
}

describe('the invariants', () => {
  it('each have a turn below that breaks them', () => {
    expect(Object.keys(broken).sort()).toEqual(turnInvariants.map(({ name }) => name).sort())
  })

  it.each(Object.entries(broken))('a breach of "%s" is found', (name, breakIt) => {
    const turn = twoCalls()
    breakIt(turn)
    expect(breachesOf(turn.book, turnInvariants).map(({ invariant }) => invariant)).toContain(name)
  })

  it('a check that throws counts as a breach', () => {
    const bad = {
      name: 'bad',
      check: () => {
        throw new Error('oops')
      },
    }
    expect(breachesOf(twoCalls().book, [bad])).toEqual([{ invariant: 'bad', problem: 'the check threw: Error: oops' }])
  })
})

describe('a live executor', () => {
  const parts = () => {
    const read = heldTool('Read', { safe: true })
    const edit = heldTool('Edit')
    return { read, edit, ...heldTurn([read.tool, edit.tool]) }
  }

  it('Y6 keeps them while it is watched, with readers of both kinds', async () => {
    const { executor, add, read, edit } = parts()
    const watch = watchInvariants(executor)
    for (const [id, name] of [
      ['a', 'Read'],
      ['b', 'Edit'],
      ['c', 'Nowhere'],
    ] as const)
      add(id, name)
    const words: string[] = []
    const reading = (async () => {
      for await (const { message } of executor.getRemainingResults()) words.push(message.type)
    })()
    await flush()
    expect(watch.evidence.sleepingReaders).toBe(1)
    read.run('a').progress(1)
    read.run('a').finish()
    await flush()
    watch.assert()
    edit.run('b').finish()
    await reading
    watch.assert()
    assertInvariants(executor)
    expect(words).toEqual(['progress', 'user', 'user', 'user'])
    expect(watch.evidence).toMatchObject({ order: ['a', 'b', 'c'], isOver: true, gate: 'open', sleepingReaders: 0 })
    expect(watch.evidence.calls.map(({ id, phase, starts }) => [id, phase, starts.length])).toEqual([
      ['a', 'yielded', 1],
      ['b', 'yielded', 1],
      ['c', 'yielded', 0],
    ])
  })

  it('Q4 is checked by its current state without a watch, and is not changed', async () => {
    const { executor, add, read } = parts()
    add('a', 'Read')
    assertInvariants(executor)
    const watch = watchInvariants(executor)
    expect(watch.evidence.calls.map(({ phase }) => phase)).toEqual(['executing.calling.here'])
    watch.leave()
    expect(Object.keys(executor)).toEqual([])
    read.run('a').finish()
    await flush()
    expect([...executor.getCompletedResults()]).toHaveLength(1)
    assertInvariants(executor)
    expect(watch.evidence.order).toEqual([])
  })

  it('Y6 throws with the name of the broken invariant, also a custom one', () => {
    const { executor, add } = parts()
    watchInvariants(executor)
    add('a', 'Read')
    const noCalls = {
      name: 'no calls',
      check: ({ calls }: { calls: readonly unknown[] }) => (calls.length > 0 ? 'there is one' : undefined),
    }
    expect(() => assertInvariants(executor, [...turnInvariants, noCalls])).toThrow('no calls: there is one')
  })
})
