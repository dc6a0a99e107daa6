import type { AnyActorRef, AnyStateMachine } from 'xstate'
import { type ChartEngine, rememberEngine } from './chart-engine.ts'
import { compileChart } from './compile-chart.ts'
import { watchGuards } from './guard-watch.ts'
import { TableActor } from './table-actor.ts'
import { createTableRoot } from './table-root.ts'
import { createChildActor } from './xstate-engine.ts'
import { relayTo } from './xstate-internals.ts'

/** Each chart is compiled once, at its first use. */
const tables = new WeakMap<AnyStateMachine, AnyStateMachine>()

function tableOf<Machine extends AnyStateMachine>(chart: Machine): Machine {
  let table = tables.get(chart)
  if (table === undefined) {
    table = compileChart(chart)
    tables.set(chart, table)
  }
  return table as Machine
}

/** Whether the parent's chart handles the end of its children, which a table actor does not report. */
function hearsEnds(parent: AnyActorRef): boolean {
  const { logic } = parent as unknown as { logic: Partial<AnyStateMachine> }
  let answer = hearers.get(logic)
  if (answer === undefined) {
    answer = logic.root === undefined || logic.root.events.some((type) => /^xstate\.done\.actor|\*$/.test(type))
    hearers.set(logic, answer)
  }
  return answer
}
const hearers = new WeakMap<object, boolean>()

export const tableEngine: ChartEngine = {
  name: 'table',
  createRoot(chart, options, onEnd) {
    const root = createTableRoot(tableOf(chart), options, onEnd)
    rememberEngine(root.system, tableEngine)
    return root
  },
  createChild: (chart, parent, id, input) =>
    hearsEnds(parent)
      ? createChildActor(tableOf(chart), parent, id, input)
      : new TableActor(tableOf(chart), parent, id, input).ref,
  send: (actor, event) => relayTo(undefined, actor, event),
  watchGuards,
}
