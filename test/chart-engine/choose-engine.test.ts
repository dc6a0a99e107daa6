import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type AnyActorRef, createActor, createMachine } from 'xstate'
import { chooseEngine } from '../../src/chart-engine/choose-engine.ts'
import { runsLike } from '../../src/chart-engine/self-test.ts'
import { TableActor } from '../../src/chart-engine/table-actor.ts'
import { tableEngine } from '../../src/chart-engine/table-engine.ts'
import { xstateEngine } from '../../src/chart-engine/xstate-engine.ts'

/** XState with another `Actor` base class, as in a possible new version. */
async function withActor(change: (prototype: Record<string, unknown>) => void) {
  vi.resetModules()
  vi.doMock('xstate', async (original) => {
    const xstate = await original<typeof import('xstate')>()
    class Changed extends xstate.Actor<never> {}
    change(Changed.prototype as never)
    return { ...xstate, Actor: Changed }
  })
  const { chooseEngine: choose } = await import('../../src/chart-engine/choose-engine.ts')
  return choose
}

describe('choosing an engine', () => {
  beforeEach(() => {
    vi.doUnmock('xstate')
    vi.restoreAllMocks()
  })

  it('chooses the table if it behaves like XState, and plain XState on request', () => {
    expect(runsLike(tableEngine, xstateEngine)).toEqual({})
    expect([chooseEngine('table').name, chooseEngine('xstate').name]).toEqual(['table', 'xstate'])
  })

  it.each<[string, (prototype: Record<string, unknown>) => void]>([
    ['a method is gone', (prototype) => void Object.assign(prototype, { _process: undefined })],
    ['a method does something else', (prototype) => void Object.assign(prototype, { update: () => undefined })],
    [
      'a method throws',
      (prototype) =>
        void Object.assign(prototype, {
          _process: () => {
            throw new Error('changed')
          },
        }),
    ],
  ])('chooses plain XState, with one warning, if %s', async (_, change) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const choose = await withActor(change)
    expect([choose('table').name, choose('table').name, choose().name]).toEqual(['xstate', 'xstate', 'xstate'])
    const ours = warn.mock.calls.filter(([text]) => String(text).includes('Signalbox'))
    expect(ours).toEqual([[expect.stringContaining('does not fit the installed version of xstate')]])
  })

  it('creates a table actor only for a parent that does not handle its end', () => {
    const heard: string[] = []
    const ending = createMachine({ initial: 'a', states: { a: { on: { end: 'b' } }, b: { type: 'final' } } })
    const parents = {
      deaf: createMachine({}),
      listening: createMachine({
        on: { 'xstate.done.actor.kid': { actions: ({ event }) => void heard.push(event.type) } },
      }),
    }
    const kids = Object.values(parents).map((parent) => {
      const ref = createActor(parent).start() as AnyActorRef
      const kid = tableEngine.createChild(ending, ref, 'kid', undefined)
      kid.start()
      kid.send({ type: 'end' })
      return kid instanceof TableActor
    })
    expect([kids, heard]).toEqual([[true, false], ['xstate.done.actor.kid']])
  })
})
