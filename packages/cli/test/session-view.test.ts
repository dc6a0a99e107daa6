import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkFrame, type Frame } from '../../../src/inspect/index.ts'
import { callStatus } from '../src/view/call-status.ts'
import type { CallView } from '../src/view/call-view.ts'
import { SessionView } from '../src/view/session-view.ts'
import { seenTurn } from './seen-turn.ts'

const statuses = (session: SessionView): string[] =>
  session.items
    .filter((item): item is CallView => item.kind === 'call')
    .map((call) => `#${call.number} ${call.name}: ${callStatus(call, session).words}`)

describe('the view of a turn for the terminal', () => {
  it('has the reason why each call waits, and for which calls', async () => {
    const turn = seenTurn()
    turn.add('a', 'Read')
    turn.add('b', 'Bash')
    turn.add('c', 'Grep')
    expect(statuses(turn.session)).toEqual([
      '#1 Read: runs',
      '#2 Bash: must run alone, waits for #1 Read',
      '#3 Grep: waits behind #2 Bash, which must run alone',
    ])
    turn.Read.run('a').finish()
    await turn.settle()
    expect(statuses(turn.session).slice(1)).toEqual([
      '#2 Bash: runs',
      '#3 Grep: waits for #2 Bash, which must run alone',
    ])
  })

  it('has results that are finished and held for order', async () => {
    const turn = seenTurn()
    turn.add('a', 'Read')
    turn.add('b', 'Grep')
    turn.Grep.run('b').finish()
    await turn.settle()
    expect(statuses(turn.session)).toEqual(['#1 Read: runs', '#2 Grep: done, held for order: #1 Read is not finished'])
    turn.pass(1_500)
    turn.Read.run('a').finish()
    await turn.settle()
    expect(statuses(turn.session)).toEqual(['#1 Read: 1.5 s, 1 line', '#2 Grep: 0 ms'])
  })

  it('has held calls, and calls without a free slot', () => {
    const turn = seenTurn({ maxConcurrency: 1 })
    turn.add('a', 'Read')
    turn.add('b', 'Read')
    turn.add('c', 'Edit', {}, { hold: true })
    expect(statuses(turn.session).slice(1)).toEqual([
      '#2 Read: waits for a free slot: 1 of 1 in use',
      '#3 Edit: waits to be released',
    ])
  })

  it('has the call that stopped another', async () => {
    const turn = seenTurn()
    turn.add('a', 'Bash')
    turn.add('b', 'Read')
    turn.Bash.run('a').fail(new Error('exit 1'))
    await turn.settle()
    expect(statuses(turn.session)).toEqual([
      '#1 Bash: failed after 0 ms',
      '#2 Read: stopped: #1 Bash failed; it never ran',
    ])
  })

  it('has calls that the user stopped, and that did not stop in time', async () => {
    const turn = seenTurn()
    turn.add('a', 'Read')
    turn.executor.abort('escape')
    await turn.settle()
    expect(statuses(turn.session)).toEqual(['#1 Read: stopped by you'])
  })

  it('has calls that ask, were denied, or were discarded with their reply', async () => {
    const turn = seenTurn({ canUseTool: () => new Promise(() => undefined) })
    turn.add('a', 'Read')
    turn.add('b', 'Read')
    await turn.settle()
    expect(statuses(turn.session)[0]).toBe('#1 Read: waits for your answer')
    turn.executor.answer('a', { behavior: 'deny', message: 'no' })
    await turn.settle()
    turn.executor.discard()
    const givenUp = ['#1 Read: did not run', '#2 Read: discarded with the reply that requested it']
    expect(statuses(turn.session)).toEqual(givenUp)
    turn.leave()
    expect(statuses(turn.session)).toEqual(givenUp)
  })

  it('has the output of a call so far, and its length', async () => {
    const turn = seenTurn()
    turn.add('a', 'Bash')
    for (let line = 1; line <= 5_000; line++) {
      turn.Bash.run('a').progress({ type: 'bash_output', text: `line ${line}\n` })
      if (line % 500 === 0) await turn.settle()
    }
    const call = turn.session.find('a')
    expect(call?.output.lines).toBe(5_000)
    expect(call?.output.text.endsWith('line 5000\n')).toBe(true)
    expect(call?.output.text.length).toBeLessThan(20_000)
  })

  it('has texts and calls in order, and streamed pieces as one text', () => {
    const turn = seenTurn()
    turn.say('Let me ')
    turn.say('see.')
    turn.add('a', 'Read')
    turn.say('And now?')
    expect(turn.session.items.map((item) => (item.kind === 'said' ? item.text : item.id))).toEqual([
      'Let me see.',
      'a',
      'And now?',
    ])
  })

  it('is the same from its recording', async () => {
    const turn = seenTurn()
    turn.say('Go.')
    turn.add('a', 'Read')
    turn.add('b', 'Edit')
    turn.Read.run('a').finish()
    await turn.settle()
    const replayed = new SessionView()
    for (const frame of turn.frames) replayed.take(checkFrame(JSON.parse(JSON.stringify(frame))) as Frame)
    expect(JSON.stringify(replayed.items)).toBe(JSON.stringify(turn.session.items))
    expect(statuses(replayed)).toEqual(statuses(turn.session))
  })

  it('has no lines for the calls of an agent', () => {
    const turn = seenTurn()
    turn.add('a', 'Read')
    const session = new SessionView()
    const warning: Frame = { seq: 99, at: 9, run: 1, type: 'warning', call: null, code: 'late', message: 'of an agent' }
    for (const frame of [...turn.frames, warning]) {
      session.take(frame.type === 'run' ? { ...frame, parentToolUseID: 'toolu_1' } : frame)
    }
    expect(session.items).toEqual([])
    expect(session.isOfAgent(warning)).toBe(true)
  })

  it('ignores invalid frames', () => {
    const session = new SessionView()
    const stamp = { seq: 0, at: 0, run: 7 }
    const odd = [
      {
        ...stamp,
        type: 'schedule',
        stages: [['x', 'executing', 'shared']],
        waits: [{ because: 'odd', blockers: [], calls: [[0, 1e9]] }],
      },
      { ...stamp, type: 'result', call: 'x', message: 'tool_result', isError: false, content: 'y' },
      { ...stamp, type: 'run', title: '', isLate: false, maxConcurrency: null, root: '' },
      {
        ...stamp,
        type: 'call',
        call: 'x',
        actor: '',
        index: 99,
        name: '',
        label: '',
        input: 1,
        lane: 'shared',
        stage: 'queued',
        stopsAtInterrupt: false,
      },
      { ...stamp, type: 'step', actor: 'nobody', event: '', transitions: [], active: [1, 2] },
      { ...stamp, type: 'schedule', waits: [{ because: 'odd', blockers: ['nobody'], calls: [[0, 1e9]] }] },
    ] as unknown as Frame[]
    for (const frame of odd) session.take(frame)
    expect(session.items).toEqual([])
  })
})

it('reads nothing but frames', () => {
  const text = readFileSync(new URL('../src/view/session-view.ts', import.meta.url), 'utf8')
  const imports = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from)
  expect(imports.every((from) => from === 'signalbox/inspect' || from?.startsWith('./'))).toBe(true)
})
