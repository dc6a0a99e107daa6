import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { and } from 'xstate'
import { backgroundChart, callChart, executorChart, queryChart } from '../../machines/index.ts'
import { sendsInvalidRequests } from '../support/sent-flaws.ts'
import { type ChartTransition, transitionsOf } from './chart-transitions.ts'
import { scenarios } from './scenarios/index.ts'

/** An error in a chart is thrown; here that also counts as detection. */
const swallowed: unknown[] = []
const swallow = (error: unknown) => void swallowed.push(error)

type Scenario = () => Promise<void>

/** The scenario that detected the last change first: neighbouring transitions often break the same one. */
const order = Object.values(scenarios)

/** The scenarios in which a chart asks for a transition; a change of it cannot break any other. */
const askedIn = new Map<ChartTransition, Set<Scenario>>()

async function isAnyBroken(transition: ChartTransition): Promise<boolean> {
  for (const [at, scenario] of order.entries()) {
    if (!askedIn.get(transition)?.has(scenario) || !(await isBroken(scenario))) continue
    order.unshift(...order.splice(at, 1))
    return true
  }
  return false
}

async function isBroken(scenario: () => unknown): Promise<boolean> {
  swallowed.length = 0
  try {
    await scenario()
    return swallowed.length > 0
  } catch {
    return true
  }
}

/** Changes the chart that the executor runs, and returns a function that undoes the change. */
function withGuard({ definition }: ChartTransition, guard: unknown): () => void {
  const before = definition.guard
  definition.guard = guard as never
  return () => {
    if (before === undefined) delete (definition as { guard?: unknown }).guard
    else definition.guard = before
  }
}

/** Removing a transition that is never taken would change nothing. */
const withoutTransition = (transition: ChartTransition) => withGuard(transition, () => false)

/** A guard that always passes, but not for ever: a chart that loops must be detected too. */
function withoutGuard(transition: ChartTransition): () => void {
  let passed = 0
  return withGuard(transition, () => {
    if (++passed > 2_000) throw new Error('this guard was all that ended the loop')
    return true
  })
}

const charts = { background: backgroundChart(), call: callChart(), executor: executorChart(), query: queryChart() }
const all = Object.values(charts).flatMap((machine) => transitionsOf(machine as never))

/** Runs every scenario on the charts as they are, and notes which transitions each asks for. */
async function noteAskedTransitions(): Promise<void> {
  let running: Scenario | undefined
  const restore = all.map((transition) => {
    const asked = new Set<Scenario>()
    askedIn.set(transition, asked)
    const note = () => {
      if (running !== undefined) asked.add(running)
      return true
    }
    const { guard } = transition.definition
    return withGuard(transition, guard === undefined ? note : and([note, guard as never]))
  })
  for (const scenario of order) {
    running = scenario
    await scenario()
  }
  for (const undo of restore) undo()
}

// a chart that lacks a transition may make any request
beforeEach(sendsInvalidRequests)

describe('every transition of the charts matters', () => {
  afterEach(() => vi.restoreAllMocks())

  beforeAll(noteAskedTransitions)

  it('Q1 Q4 Y1 A1 the scenarios hold for the charts as they are', async () => {
    for (const scenario of Object.values(scenarios)) await scenario()
  })

  it.each(
    all.map((transition) => [transition.name, transition] as const),
  )('Q4 without %s a behaviour breaks', async (_, transition) => {
    await expectBroken(transition, withoutTransition)
  })

  const guarded = all.filter(({ definition }) => definition.guard !== undefined)

  it.each(
    guarded.map((transition) => [transition.name, transition] as const),
  )('Q4 without the guard of %s a behaviour breaks', async (_, transition) => {
    await expectBroken(transition, withoutGuard)
  })
})

async function expectBroken(transition: ChartTransition, change: typeof withoutGuard): Promise<void> {
  const restore = change(transition)
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', swallow)
  try {
    expect(await isAnyBroken(transition)).toBe(true)
  } finally {
    restore()
    await new Promise((resolve) => setTimeout(resolve, 0))
    process.off('uncaughtException', swallow)
    for (const listener of listeners) process.on('uncaughtException', listener)
  }
}
