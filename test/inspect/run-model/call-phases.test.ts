import { expect, it } from 'vitest'
import type { AnyStateNode } from 'xstate'
import { callChart } from '../../../machines/index.ts'
import { callPhases } from '../../../src/inspect/index.ts'

/** The innermost states; wherever the body runs is one phase. */
function phasesIn({ key, states }: AnyStateNode): string[] {
  const inner = Object.values(states)
  return inner.length === 0 || key === 'calling' ? [key] : inner.flatMap(phasesIn)
}

it('the phases of a call are the states of its chart while it executes', () => {
  const { executing } = callChart().root.states
  expect([...callPhases].sort()).toEqual(phasesIn(executing as AnyStateNode).sort())
})
