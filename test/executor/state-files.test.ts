import { describe, expect, it, vi } from 'vitest'
import { callChart } from '../../machines/index.ts'
import { completedBody, stateBodies } from '../../src/pipeline/state-bodies.ts'
import { ToolCall } from '../../src/pipeline/tool-call.ts'

const bodies: Record<string, { run: (call: ToolCall) => void }> = { ...stateBodies, completed: completedBody }
const fileOf = (state: string) =>
  `../../src/pipeline/${state.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`

type Node = { key: string; entry: readonly unknown[]; states: Record<string, Node> }
const below = (node: Node): Node[] => Object.values(node.states).flatMap((child) => [child, ...below(child)])
const withBody = below(callChart().root as unknown as Node).filter(({ entry }) => entry.length > 0)

/** A call of an executor that runs each job at once. */
const bareCall = () => {
  const executor = {
    pushFor: (call: ToolCall, job: (call: ToolCall) => void) => job(call),
    report: { entered: () => undefined },
  }
  const arrival = { id: 'a', name: 'Read', block: { input: {} } }
  return new ToolCall(executor as never, arrival as never)
}

describe('the files of a call', () => {
  it('Q2 the table of bodies names each state with an entry action, and no other', () => {
    expect(Object.keys(bodies).toSorted()).toEqual(withBody.map(({ key }) => key).toSorted())
  })

  it.each(Object.keys(bodies))('Q2 the body of %s is in the file of its name', async (state) => {
    const module = (await import(fileOf(state))) as object
    expect(Object.values(module)).toContain(bodies[state]?.run)
  })

  it('Q2 no two states name the same body', () => {
    const runs = Object.values(bodies).map(({ run }) => run)
    expect(new Set(runs).size).toBe(runs.length)
  })

  it.each(
    withBody.map(({ key, entry }) => [key, entry] as const),
  )('Q2 the entry of %s runs its body', (state, entry) => {
    const run = vi.spyOn(bodies[state] as { run: () => void }, 'run').mockImplementation(() => undefined)
    const others = Object.entries(bodies)
      .filter(([name]) => name !== state)
      .map(([, body]) => vi.spyOn(body, 'run').mockImplementation(() => undefined))
    const call = bareCall()
    const context = { call, cause: { kind: 'timeout', reason: 'timeout' }, ending: { by: 'answer' } }
    const { actions } = callChart().implementations as unknown as {
      actions: Record<string, ((args: object) => void) & { type?: string }>
    }
    for (const each of entry as (string | { type: string })[]) {
      const action = actions[typeof each === 'string' ? each : each.type]
      // `sendTo` and similar actions have no function here: they notify the executor chart
      if (action !== undefined && action.type === undefined) action({ context })
    }
    expect(run.mock.calls).toEqual([[call]])
    for (const other of others) expect(other).not.toHaveBeenCalled()
    vi.restoreAllMocks()
  })
})
