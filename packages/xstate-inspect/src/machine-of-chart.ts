import {
  type ChartDefinition,
  chartConfig,
  type OneOrMore,
  type StateConfig,
  type StateValue,
  type TransitionConfig,
} from 'signalbox/inspect'
import { createMachine, State } from 'xstate'

/** A chart as an XState 4 machine, with the data that its inspector needs repeatedly cached. */
export interface DrawnMachine {
  /** The configuration: a fifth of the size of a full definition, and a receiver builds the same machine from it. */
  readonly definition: object
  /** An XState 4 state without its context and event. */
  state(value: StateValue): object
}

const known = new WeakMap<ChartDefinition, DrawnMachine>()

export function machineOfChart(chart: ChartDefinition): DrawnMachine {
  const found = known.get(chart) ?? draw(chart)
  known.set(chart, found)
  return found
}

function draw(chart: ChartDefinition): DrawnMachine {
  const definition = { predictableActionArguments: true, ...inXState4(chartConfig(chart)), id: chart.id }
  const machine = createMachine(definition)
  // bounded by the number of state combinations of the chart
  const states = new Map<string, object>()
  return {
    definition,
    state(value) {
      const key = JSON.stringify(value)
      const known = states.get(key) ?? plain(machine.resolveState(State.from(value as never, undefined as unknown)))
      states.set(key, known)
      return known
    },
  }
}

const plain = (value: object): object => JSON.parse(JSON.stringify(value))

/** The same format, except that XState 4 calls a guard `cond`. */
function inXState4({ on, always, states, ...rest }: StateConfig): object {
  const transitions = (some: OneOrMore<TransitionConfig>): object[] =>
    [some].flat().map(({ guard, ...same }) => ({ ...same, ...(guard !== undefined && { cond: guard }) }))
  return {
    ...rest,
    ...(on && { on: each(on, transitions) }),
    ...(always && { always: transitions(always) }),
    ...(states && { states: each(states, inXState4) }),
  }
}

const each = <Value>(record: Readonly<Record<string, Value>>, change: (value: Value) => unknown): object =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
