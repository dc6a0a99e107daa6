import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { callChart, executorChart, queryChart } from '../../machines/index.ts'
import { sendsInvalidRequests } from '../support/validated-requests.ts'
import { type ChartTransition, transitionsOf } from './chart-transitions.ts'
import { scenarios } from './scenarios/index.ts'

/** A chart that errors throws from wherever it is; here that is a way to be found out. */
const swallowed: unknown[] = []
const swallow = (error: unknown) => void swallowed.push(error)

async function firstBroken(): Promise<string | undefined> {
  for (const [name, scenario] of Object.entries(scenarios)) {
    swallowed.length = 0
    try {
      await scenario()
      if (swallowed.length > 0) return name
    } catch {
      return name
    }
  }
  return undefined
}

/** Changes the very chart that the façade runs, and says how to undo it. */
function withGuard({ definition }: ChartTransition, guard: () => boolean): () => void {
  const before = definition.guard
  definition.guard = guard
  return () => {
    if (before === undefined) delete (definition as { guard?: unknown }).guard
    else definition.guard = before
  }
}

/** A transition that is never taken might as well not be there. */
const withoutTransition = (transition: ChartTransition) => withGuard(transition, () => false)

/** Lets everything pass, though not for ever: a chart that loops must be found out too. */
function withoutGuard(transition: ChartTransition): () => void {
  let passed = 0
  return withGuard(transition, () => {
    if (++passed > 2_000) throw new Error('this guard was all that ended the loop')
    return true
  })
}

const charts = { call: callChart(), executor: executorChart(), query: queryChart() }
const all = Object.values(charts).flatMap((machine) => transitionsOf(machine as never))

// a chart that lacks a transition may ask anything
beforeEach(sendsInvalidRequests)

describe('the charts run the show', () => {
  afterEach(() => vi.restoreAllMocks())

  it('Q1 Q4 Y1 A1 the scenarios hold for the charts as they are', async () => {
    for (const scenario of Object.values(scenarios)) await scenario()
  })

  it.each(
    all.map((transition) => [transition.name, transition] as const),
  )('Q4 without %s a behaviour breaks', async (_, transition) => {
    await expectBroken(withoutTransition(transition))
  })

  const guarded = all.filter(({ definition }) => definition.guard !== undefined)

  it.each(
    guarded.map((transition) => [transition.name, transition] as const),
  )('Q4 without the guard of %s a behaviour breaks', async (_, transition) => {
    await expectBroken(withoutGuard(transition))
  })
})

async function expectBroken(restore: () => void): Promise<void> {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', swallow)
  try {
    expect(await firstBroken()).toBeDefined()
  } finally {
    restore()
    await new Promise((resolve) => setTimeout(resolve, 0))
    process.off('uncaughtException', swallow)
    for (const listener of listeners) process.on('uncaughtException', listener)
  }
}
