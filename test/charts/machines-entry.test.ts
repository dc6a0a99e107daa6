import { describe, expect, it, vi } from 'vitest'

describe('signalbox/machines', () => {
  it('builds no chart on import, and each at its first use', async () => {
    const built: string[] = []
    vi.doMock('xstate', async (original) => {
      const xstate = await original<typeof import('xstate')>()
      const setup = (given: never) => {
        const made = xstate.setup(given)
        const createMachine = (config: { id: string }) => {
          built.push(config.id)
          return made.createMachine(config as never)
        }
        return { ...made, createMachine }
      }
      return { ...xstate, setup }
    })
    const machines = await import('../../machines/index.ts')
    expect(built).toEqual([])
    machines.callChart()
    machines.callChart()
    expect(built).toEqual(['call'])
  })

  it('exports the charts and the decisions, and no engine', async () => {
    const names = Object.keys(await import('../../machines/index.ts'))
    expect(names).toEqual(expect.arrayContaining(['callChart', 'executorChart', 'queryChart', 'connectionChart']))
    const internal = [
      'relayTo',
      'createTableRoot',
      'WaitingQueue',
      'compileChart',
      'watchGuards',
      'executorLogic',
      'queryLogic',
    ]
    expect(names.filter((name) => internal.includes(name))).toEqual([])
  })
})
