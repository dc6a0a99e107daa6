import { parseReceiverEvent } from '@xstate/inspect/lib/utils.js'
import { type ChartDefinition, createRecorder, type Frame, stateValue } from 'signalbox/inspect'
import { heldQuery, heldTool } from 'signalbox/testing'
import { describe, expect, it } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import { machineOfChart } from '../src/machine-of-chart.ts'

/** The three charts, as in frames. */
function charts(): ChartDefinition[] {
  const { run } = heldQuery([heldTool('Read').tool])
  const frames: Frame[] = []
  const recorder = createRecorder({ onFrame: (frame) => frames.push(frame) })
  recorder.watch(run.executor, { queryActor: run.actor }).leave()
  return frames.flatMap((frame) => (frame.type === 'chart' ? [frame.chart] : []))
}

/** The machine that the package's own receivers build. */
function receivedMachine(chart: ChartDefinition): AnyStateMachine {
  const { definition, state } = machineOfChart(chart)
  const names = { id: chart.id, sessionId: 's' }
  const sent = { machine: JSON.stringify(definition), state: JSON.stringify(state(firstValue(chart))) }
  const event = parseReceiverEvent({ type: 'service.register', ...names, ...sent })
  return (event as Extract<typeof event, { type: 'service.register' }>).machine
}

function firstValue(chart: ChartDefinition): ReturnType<typeof stateValue> {
  const entered = (id: number): number[] => {
    const node = chart.nodes.find((each) => each.id === id)
    const below = chart.nodes.filter(({ parent }) => parent === id).map((each) => each.id)
    const next = node?.kind === 'parallel' ? below : node?.initial == null ? [] : [node.initial]
    return [id, ...next.flatMap(entered)]
  }
  return stateValue(chart, entered(0))
}

describe.each(charts().map((chart) => [chart.id, chart] as const))('the chart of the %s', (_, chart) => {
  const machine = receivedMachine(chart)
  const pathOf = (id: number | null): string[] => {
    const node = chart.nodes.find((each) => each.id === id)
    return node === undefined || node.parent === null ? [] : [...pathOf(node.parent), node.key]
  }
  const nodeAt = (id: number) => machine.getStateNodeByPath(pathOf(id))

  it('has the same states in XState 4', () => {
    expect(machine.stateIds).toHaveLength(chart.nodes.length)
    for (const { id, kind, tags, entry, exit } of chart.nodes) {
      const node = nodeAt(id)
      expect([node.type, node.tags]).toEqual([kind, [...tags]])
      expect(node.onEntry.map(({ type }) => type)).toEqual([...entry])
      expect(node.onExit.map(({ type }) => type)).toEqual([...exit])
    }
  })

  it('begins in the same state', () => {
    expect(machine.initial ?? null).toBe(chart.nodes[0]?.initial == null ? null : pathOf(chart.nodes[0].initial)[0])
    for (const { id, initial } of chart.nodes) {
      if (initial !== null) expect(nodeAt(id).initial).toBe(pathOf(initial).at(-1))
    }
  })

  it('has the same transitions, in the same order, with their guards and actions by name', () => {
    for (const { id } of chart.nodes) {
      const ours = chart.transitions.filter(({ source }) => source === id)
      const theirs = nodeAt(id).transitions
      for (const event of new Set(ours.map((each) => each.event))) {
        expect(
          theirs
            .filter(({ eventType }) => eventType === event)
            .map(({ target, cond, actions }) => [
              (target ?? []).map((each) => each.path),
              cond === undefined ? null : 'name' in cond ? cond.name : cond.type,
              actions.map(({ type }) => type),
            ]),
        ).toEqual(
          ours
            .filter((each) => each.event === event)
            .map((each) => [each.targets.map(pathOf), each.guard, each.actions]),
        )
      }
      expect(theirs).toHaveLength(ours.length)
    }
  })
})

it('knows all three', () =>
  expect(
    charts()
      .map(({ id }) => id)
      .sort(),
  ).toEqual(['call', 'executor', 'query']))
