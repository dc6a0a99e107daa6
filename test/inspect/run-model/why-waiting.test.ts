import { describe, expect, it } from 'vitest'
import { type AnyActorRef, createActor, setup } from 'xstate'
import { emptyModel, type Run } from '../../../inspector-app/src/model/model.ts'
import { applyFrame } from '../../../inspector-app/src/model/reduce.ts'
import { awaitedWords } from '../../../inspector-app/src/model/server-state.ts'
import { callState } from '../../../inspector-app/src/views/call-state.ts'
import { whyWaiting as inPage, stateWords } from '../../../inspector-app/src/words.ts'
import { callStatus } from '../../../packages/cli/src/view/call-status.ts'
import type { CallView } from '../../../packages/cli/src/view/call-view.ts'
import { SessionView } from '../../../packages/cli/src/view/session-view.ts'
import { createRecorder, type Frame, type FrameBody, givenUp, whyWaiting } from '../../../src/inspect/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { flush, testTurn } from '../../support/turn.ts'

function watched(maxConcurrency: number, queryActor?: AnyActorRef) {
  const tools = { Read: heldTool('Read', { safe: true }), Edit: heldTool('Edit') }
  const turn = testTurn([tools.Read.tool, tools.Edit.tool], { maxConcurrency })
  const frames: Frame[] = []
  createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(turn.executor, { queryActor })
  const seen = () => {
    const [session, model] = [new SessionView(), emptyModel()]
    for (const frame of frames) {
      session.take(frame)
      applyFrame(model, frame)
    }
    return { session, run: model.runs.get(1) as Run }
  }
  /** Why each call waits: as the terminal prints it, and as the page does. */
  const said = () => {
    const { session, run } = seen()
    const calls = session.items.filter((item): item is CallView => item.kind === 'call')
    const terminal = calls.map((call) => [call.id, callStatus(call, session)] as const)
    return {
      terminal: terminal.flatMap(([id, { phase, words }]) => (phase === 'queued' ? [`${id} ${words}`] : [])),
      page: run.waiting.flatMap(({ id, wait }) => (wait === undefined ? [] : [`${id} ${inPage(run, wait)}`])),
    }
  }
  return { ...turn, ...tools, frames, seen, said }
}

describe('why a call waits', () => {
  it('Q4 Q5 reads the same in the terminal and in the page, for every reason', async () => {
    const turn = watched(2)
    for (const id of ['a', 'b', 'c']) turn.add(id, 'Read')
    turn.add('d', 'Read', {}, { hold: true })
    turn.add('e', 'Edit')
    turn.add('f', 'Read')
    expect(turn.said().terminal).toEqual([
      'c waits for a free slot: 2 of 2 in use',
      'd waits to be released',
      'e must run alone, waits for #1 Read and #2 Read',
      'f waits behind #5 Edit, which must run alone',
    ])
    expect(turn.said().page).toEqual(turn.said().terminal)
    for (const id of ['a', 'b', 'c']) {
      turn.Read.run(id).finish()
      await flush()
    }
    expect(turn.said().terminal).toEqual(['d waits to be released', 'f waits for #5 Edit, which must run alone'])
    expect(turn.said().page).toEqual(turn.said().terminal)
  })

  it('T9 reads the same for a call that its query holds', () => {
    const turn = watched(2, createActor(setup({}).createMachine({ id: 'query' })).start())
    turn.add('a', 'Edit', {}, { hold: true })
    expect(turn.said()).toEqual({
      terminal: ['a waits until the reply has gone past it'],
      page: ['a waits until the reply has gone past it'],
    })
  })

  it('reads the same for a call that waits for a server', () => {
    const stamp = { seq: 0, at: 0, run: 1 }
    const frames = (
      [
        { type: 'server', name: 'files', root: 'y' },
        {
          type: 'chart',
          chart: {
            id: 'connection',
            transitions: [],
            nodes: ['connection', 'backingOff'].map((key, id) => ({
              id,
              key,
              parent: id === 0 ? null : 0,
              kind: id === 0 ? 'compound' : 'atomic',
              initial: null,
              entry: [],
              exit: [],
              tags: [],
            })),
          },
        },
        {
          type: 'actor',
          actor: 'y',
          chart: 'connection',
          parent: null,
          active: [0, 1],
          context: { problem: `it ended with code 1 ${'!'.repeat(500)}` },
        },
        { type: 'waiting', call: 'a', isWaiting: true },
        { type: 'run', title: 't', isLate: false, maxConcurrency: null, root: 'x', run: 2 },
        {
          type: 'call',
          call: 'a',
          actor: 'a',
          index: 0,
          name: 'a',
          label: 'a',
          input: {},
          lane: 'shared',
          stage: 'executing',
          stopsAtInterrupt: false,
          run: 2,
        },
      ] as (FrameBody & { run?: number })[]
    ).map((body): Frame => ({ ...stamp, ...body }))
    const [session, model] = [new SessionView(), emptyModel()]
    for (const frame of frames) {
      session.take(frame)
      applyFrame(model, frame)
    }
    const call = session.find('a') as CallView
    const server = model.servers.get(1)
    const { words } = callStatus(call, session)
    expect(words).toMatch(/^waits for the server files \(backing off: it ended with code 1 !+\)$/)
    expect(server && awaitedWords(server)).toBe(words)
  })

  it('R1 is said in the terminal of a call that no worker has taken', () => {
    const turn = watched(2)
    turn.add('a', 'Read')
    const place = { seq: 99, at: 1, run: 1, type: 'place', call: 'a', place: 'sent', worker: null } as const
    const words = (frame: Frame): string => {
      turn.frames.push(frame)
      const { session } = turn.seen()
      return callStatus(session.find('a') as CallView, session).words
    }
    expect(words({ ...place, waiting: null })).toBe('waits for a worker')
    expect(words({ ...place, waiting: 1 })).toBe('waits for a worker; one call waits in the queue')
    expect(words({ ...place, waiting: 12 })).toBe('waits for a worker; 12 calls wait in the queue')
    expect(words({ ...place, place: 'remote', worker: 'gpu-1', waiting: null })).toBe('runs')
  })

  it('A5 names a discarded call the same in every view', () => {
    const turn = watched(2)
    turn.add('a', 'Edit')
    turn.executor.discard()
    const { session, run } = turn.seen()
    const [call] = run.calls
    if (call === undefined) throw new Error('no call')
    expect([callState(run, call).words, stateWords(call)]).toEqual([givenUp.short, givenUp.short])
    expect(callStatus(session.find('a') as CallView, session).words).toBe(givenUp.long)
  })

  it('is a sentence for every reason, also an unknown one from a recording', () => {
    const names = new Map(['a', 'b', 'c', 'd', 'e'].map((id, at) => [id, `#${at + 1} Read`]))
    const say = (because: string, blockers: readonly string[], maxConcurrency: number | null = null) =>
      whyWaiting({ because, blockers }, { maxConcurrency, nameOf: (id) => names.get(id) })
    expect(say('waitsForRunning', [...names.keys()])).toBe(
      'must run alone, waits for #1 Read, #2 Read, #3 Read and 2 more',
    )
    expect(say('waitsForRunning', ['nobody'])).toBe('must run alone, waits for another call')
    const resource = { because: 'resource', blockers: ['a'], key: '*' }
    expect(whyWaiting(resource, { maxConcurrency: null, nameOf: (id) => names.get(id) })).toBe(
      'waits for #1 Read, which uses everything',
    )
    expect(say('full', ['a'])).toBe('waits for a free slot')
    expect(say('discarded', [])).toBe('discarded with the reply that requested it')
    expect(say('toString', ['a'])).toBe('waits (toString)')
  })
})
