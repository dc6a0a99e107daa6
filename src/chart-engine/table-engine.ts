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
function hearsEnds(logic: Partial<AnyStateMachine>): boolean {
  let answer = hearers.get(logic)
  if (answer === undefined) {
    answer = logic.root === undefined || logic.root.events.some((type) => /^xstate\.done\.actor|\*$/.test(type))
    hearers.set(logic, answer)
  }
  return answer
}
const hearers = new WeakMap<object, boolean>()

/** A chart as the child of another. */
interface ChildTable {
  readonly chart: AnyStateMachine
  readonly around: Partial<AnyStateMachine>
  readonly table: AnyStateMachine
  readonly isLean: boolean
}
/** That of the last child, which nearly always serves the next one too. */
let last: ChildTable | undefined

function childTable(chart: AnyStateMachine, parent: AnyActorRef): ChildTable {
  const { logic: around } = parent as unknown as { logic: Partial<AnyStateMachine> }
  if (last?.chart !== chart || last.around !== around) {
    last = { chart, around, table: tableOf(chart), isLean: !hearsEnds(around) }
  }
  return last
}

export const tableEngine: ChartEngine = {
  name: 'table',
  createRoot(chart, options, onEnd) {
    const root = createTableRoot(tableOf(chart), options, onEnd)
    rememberEngine(root.system, tableEngine)
    return root
  },
  createChild(chart, parent, id, input) {
    const { table, isLean } = childTable(chart, parent)
    return isLean ? new TableActor(table, parent, id, input).ref : createChildActor(table, parent, id, input)
  },
  send: (actor, event) => relayTo(undefined, actor, event),
  watchGuards,
}
